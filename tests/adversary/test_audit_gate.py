"""Attacker: wants a run that leaks to pass the gate, and may edit, copy, cut short or break whatever the audit is made of.

Won is every training that starts. Each way in is first shown to be one: on a build without the check it stands against, or
by the run that starts where nothing was done to it. What whoever holds the secret writes is the operator's own word.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from adversary import weakened
from committed_run import digest_of, held, held_audit, make_run
from whole_runs import private_of

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.evaluation.audit import TABLE, judge
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.by_voice import SpeakersByVoice, invented_voices
from sottovoce.models.evaluation.audit.by_words import SpeakersByWords, by_sink, invented_release
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.trials import NotMeasurable, Trials
from sottovoce.models.ledger.gate import Gate
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.audit.audit_run import lines
from sottovoce.pipelines.audit.officers_page import page
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training.start_training import GateClosed, read_audit
from sottovoce.pipelines.training.start_training import judge as at_the_gate

SECRET = Secret(b"s" * 32)
FELL = {"value": 0.8, "low": 0.7, "high": 0.9}


def attack(run: Path, secret: Secret | None = None) -> bool:
    """Whether training would start from the run."""
    folder, committed = open_run(str(run)), open_committed(str(run))
    try:
        at_the_gate(committed, Gate(), read_audit(folder, committed.digest, secret), True, "slu")
    except (GateClosed, RunError):
        return False
    return True


def written(run: Path, content: dict) -> Path:
    (private_of(run) / "audit.json").write_text(json.dumps(content))
    return run


@pytest.fixture
def leaking(tmp_path) -> tuple[Path, dict]:
    """A run that fell to one attack, and its audit."""
    run = held(make_run(tmp_path / "out" / "run-1"))
    assert attack(run), "what held is trained on"
    content = {"commit": digest_of(run)} | held_audit()
    content["results"][3] |= {"verdict": "fell", "risk": FELL}
    content |= {"held": False, "reasons": judge.reasons_not_held(content["results"], "refuse")}
    assert not attack(written(run, content)) and read_audit(open_run(str(run)), digest_of(run))
    return run, content


def edited(content: dict, *edits) -> dict:
    content = copy.deepcopy(content)
    for edit in edits:
        edit(content)
    return content


def says_it_held(content):
    content.update(held=True, reasons=[])


def the_row_too(content):
    content["results"][3]["verdict"] = "held"


EDITS = {
    "the verdict": [says_it_held],
    "the verdict and its row": [says_it_held, the_row_too],
    "what is allowed is NaN": [says_it_held, the_row_too, lambda c: c["results"][3].update(allowed=math.nan)],
    "the risk is NaN": [says_it_held, the_row_too, lambda c: c["results"][3]["risk"].update(high=math.nan)],
    "more is allowed than there is": [says_it_held, the_row_too, lambda c: c["results"][3].update(allowed=2)],
    "the row is taken out": [says_it_held, lambda c: c["results"].pop(3)],
    "no rows at all": [says_it_held, lambda c: c.update(results=[], calibration=[])],
    "not measurable, with figures": [says_it_held, lambda c: c["results"][3].update(verdict="not measurable")],
    "not applicable, with figures": [says_it_held, lambda c: c["results"][3].update(verdict="not applicable")],
    "a word that is no verdict": [says_it_held, lambda c: c["results"][3].update(verdict="fine")],
    "unmeasured attacks are ignored": [
        says_it_held, lambda c: (c["results"][3].update(verdict="not measurable"), c["results"][3].pop("risk")),
    ],
    "and by a word that is none": [
        says_it_held, lambda c: c.update(unmeasured="ignore"),
        lambda c: (c["results"][3].update(verdict="not measurable"), c["results"][3].pop("risk")),
    ],
    "a file of another shape": [says_it_held, lambda c: c.update(results={"all": "held"})],
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_audit_opens_nothing(leaking, edit):
    run, content = leaking
    assert not attack(written(run, edited(content, *EDITS[edit])))


def test_on_a_build_that_takes_its_word_an_edit_opens_the_gate(leaking):
    run, content = leaking
    written(run, edited(content, says_it_held))
    with weakened("rows decide", {"sottovoce.pipelines.training.start_training:contradictions": lambda content: []}):
        assert attack(run)
    assert not attack(run)


def test_an_attacker_that_was_not_fit_holds_nothing(tmp_path):
    run = held(make_run(tmp_path / "out" / "run-1"))
    for change in ({"fit": False}, {"risk_where_all_leaks": 0.0}, {"risk_where_nothing_leaks": math.nan}):
        content = {"commit": digest_of(run)} | held_audit()
        content["calibration"][0] |= change
        assert not attack(written(run, content))


def test_a_consistent_forgery_lacks_the_seal_of_the_secret(leaking):
    run, content = leaking
    forged = edited(content, says_it_held, the_row_too, lambda c: c["results"][3].update(risk={"high": 0.0}))
    assert attack(written(run, forged)), (
        "whoever may write in private state is believed where the secret is not at hand"
    )
    for seal in (None, "0" * 32, judge.audit_seal(Secret(b"t" * 32), forged)):
        assert not attack(written(run, forged | {"seal": seal}), SECRET)
    assert attack(written(run, forged | {"seal": judge.audit_seal(SECRET, forged)}), SECRET)
    sealed = forged | {"seal": judge.audit_seal(SECRET, forged)}
    assert attack(written(run, sealed | {"others": {"team": FELL}}), SECRET), "outsiders' figures come later"
    assert not attack(written(run, edited(sealed, lambda c: c["results"].append(dict(c["results"][0])))), SECRET)


def test_the_audit_of_another_run_or_of_the_records_before_opens_nothing(tmp_path):
    good = held(make_run(tmp_path / "out" / "run-1"))
    other = make_run(tmp_path / "out" / "run-2", rows=5)
    private_of(other).mkdir(parents=True)
    (private_of(other) / "audit.json").write_bytes((private_of(good) / "audit.json").read_bytes())
    assert attack(good) and not attack(other)
    shard = good / "slu" / "part-00000-of-00001.parquet"
    shard.write_bytes((other / "slu" / shard.name).read_bytes())  # changed after the audit
    assert not attack(good)


# The programs


class Broken:
    def __init__(self, outcomes):
        self._outcomes = outcomes

    def __call__(self):
        own = SpeakersByWords()
        own.outcomes = lambda material: self._outcomes(material)
        return own


def at_chance(material):
    return {"all sinks": Trials(np.zeros(60), np.full(60, 0.1), [f"p{n}" for n in range(60)])}


def raising(material):
    raise MemoryError


NAN = Trials(np.full(60, math.nan), np.zeros(60), [f"p{n}" for n in range(60)])
NOBODY = Trials(np.zeros(0), np.zeros(0), [])


@pytest.mark.parametrize(
    "outcomes",
    [
        raising, at_chance, lambda material: {}, lambda material: [], lambda material: None,
        lambda material: {"all sinks": NAN}, lambda material: {"all sinks": NOBODY},
    ],
)  # fmt: skip
def test_a_broken_attack_program_is_a_failed_audit_whatever_the_job_says(monkeypatch, outcomes):
    monkeypatch.setattr(judge, "TABLE", {"speakers_by_words": "x"})
    monkeypatch.setattr(judge, "resolve", lambda row: Broken(outcomes))
    leaks = invented_release(np.random.default_rng(0), own_words="person")
    results, _ = judge.attacked(leaks, AuditSettings(unmeasured="allow"))
    assert [row["verdict"] for row in results] == ["failed"]
    assert judge.reasons_not_held(results, "allow")


@pytest.mark.parametrize("guesses", [NAN, NOBODY])
def test_what_a_fit_attacker_found_and_is_no_number_is_a_failed_audit(monkeypatch, guesses):
    monkeypatch.setattr(judge, "calibrated", lambda name, attack: {"attack": name, "fit": True})
    monkeypatch.setattr(judge, "TABLE", {"speakers_by_words": "x"})
    monkeypatch.setattr(judge, "resolve", lambda row: Broken(lambda material: {"all sinks": guesses}))
    results, _ = judge.attacked(invented_release(np.random.default_rng(0), "person"), AuditSettings(unmeasured="allow"))
    assert [row["verdict"] for row in results] == ["failed"]


def test_an_attacker_whose_calibration_gives_no_figure_is_told_as_such(tmp_path, monkeypatch):
    """It fails the audit, and does not break the page and the lines that say so."""
    content = held_audit() | {"run_id": "run-1", "commit": "0" * 64, "created": "2026", "held": False, "reasons": ["x"]}
    content |= {"sampled": {"people": 1, "of_people": 1, "records": 1}}
    content["results"] = []
    content["calibration"][0] |= {"risk_where_all_leaks": None, "fit": False}
    run = make_run(tmp_path / "out" / "run-1")
    assert "not measured" in page(content, json.loads((run / "ledger.json").read_text()))
    assert any("IS NOT FIT" in line and "not measured where all does" in line for line in lines(content))


def test_thresholds_above_the_default_open_the_gate_and_are_told_there(tmp_path):
    """Whoever allows everything may train; nobody is told that the run held without being told by what."""
    run = held(make_run(tmp_path / "out" / "run-1"))
    content = json.loads((private_of(run) / "audit.json").read_text())
    content["results"][3] |= {"allowed": 1.0, "risk": FELL}
    assert not attack(written(run, content)), "and an audit that does not say so is none"
    content["eased"] = judge.eased_by_the_job(content["results"])
    committed = open_committed(str(written(run, content)))
    checks = at_the_gate(committed, Gate(), read_audit(open_run(str(run)), committed.digest), True, "slu")
    (said,) = [check.says for check in checks if check.name == "audit"]
    assert "the job allows more than the default: " in said and f"{list(TABLE)[3]} 1 (default 0.2)" in said


@pytest.mark.parametrize(
    "settings",
    [
        {"max_risk": {"singling_out": math.nan}},
        {"max_risk": {"singling_out": math.inf}},
        {"max_risk": {"no_such_attack": 0.5}},
        {"canaries": math.nan},
        {"records": 0},
        {"readers": ("stylometry",)},  # none that the attackers are calibrated by
        {"encoders": ("campplus",)},  # which the voices were built with
        {"encoders": ("none",)},
    ],
)
def test_thresholds_that_are_none_are_refused(settings):
    with pytest.raises(SettingsError):
        AuditSettings(**settings)


def test_a_sink_that_the_sample_leaves_out_is_not_passed_over():
    release = invented_release(np.random.default_rng(0), own_words="person")
    alone = Material([text for text in release.texts if text.sink == "first"], sinks=release.sinks)
    found = by_sink(alone, lambda texts: "looked at")
    assert found["first"] == "looked at" and isinstance(found["second"], NotMeasurable)


def test_deaf_encoders_measure_nothing():
    leaks = invented_voices(np.random.default_rng(0), told=True)
    (heard,) = SpeakersByVoice().outcomes(leaks).values()
    assert isinstance(heard, Trials) and heard.hits.mean() > 0.9
    (recordings,) = leaks.voices.values()
    deaf = np.random.default_rng(1).normal(size=recordings.original.shape)
    leaks.voices["invented"] = dataclasses.replace(recordings, original=deaf, anonymised=deaf)
    (found,) = SpeakersByVoice().outcomes(leaks).values()
    assert isinstance(found, NotMeasurable) and "tells the originals apart" in found.needs


def test_every_attack_is_asked_for():
    """One that a build has lost is missed by the gate of the next."""
    content = held_audit()
    assert judge.contradictions(content) == []
    for name in TABLE:
        rows = [row for row in content["results"] if row["attack"] != name]
        assert judge.contradictions(content | {"results": rows}) == [f"no result of {name}"]
