"""Canary people change nothing of what is committed, and a stage that is broken on purpose closes the gate."""

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from adversary import dialogues, weakened
from whole_runs import demo_records, everything, only_run, private_of, rows, sottovoce, write_manifest, write_secret

from sottovoce.models.evaluation.audit import by_canaries, judge
from sottovoce.models.evaluation.audit.canaries import CITIES, FIRST, LAST, in_clear, invent
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Span
from sottovoce.models.speech import chain as speech_chain_of
from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
from sottovoce.models.speech.audio import resample
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice import Voiced
from sottovoce.pipelines.audit import planted
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.studies.speech_study import speech_chain
from sottovoce.transforms.sinks import route
from sottovoce.transforms.sinks.stt_lm import TextSink

pytestmark = pytest.mark.slow
KNOWS_THEM = {
    "use": "ensemble",
    "detectors": ["rules", {"use": "gazetteer", "entries": {"PER": [*FIRST, *LAST], "LOC": CITIES}}],
}
JOB = ("--set", f"detect={json.dumps(KNOWS_THEM)}", "--set", "output.shards=2")


def run_of(folder: Path, records, *flags) -> Path:
    manifest = write_manifest(folder / "in", records)
    secret = write_secret(folder / "secret")
    paths = ("--input", manifest, "--output", folder / "out", "--secret-file", secret)
    sottovoce("sanitize", *paths, *JOB, *flags, check=False)
    return only_run(folder / "out")


def told(run: Path) -> dict:
    """What the commit says of the records: times and which worker loaded a model first are of the execution."""
    counts = json.loads((run / "_COMMITTED.json").read_text())["counts"]
    for stage in counts["stages"].values():
        del stage["seconds"]
    return {key: value for key, value in counts.items() if key != "models_loaded"}


def test_what_is_committed_is_the_same_with_canaries_and_without_record_for_record(tmp_path):
    records = [*demo_records(3), {"id": "bad", "dialogue_id": "bad", "text": ""}]
    speech = ("--sinks", "stt_am", "slu", "dm", "--set", "voice=mcadams", "--set", "relisten=none")
    alone = run_of(tmp_path / "alone", records, *speech)
    among = run_of(tmp_path / "among", records, *speech, "--audit", "--set", "audit.canaries=3")
    planted_there = json.loads((private_of(among) / "canaries.json").read_text())
    assert planted_there["planted"] == {"stt_am": 1, "text sinks": 2} and planted_there["words"]
    assert everything(among) == everything(alone) and told(among) == told(alone)
    for table in ("state", "index"):
        assert rows(among, table) == rows(alone, table)
    assert not (private_of(among) / "work").exists()
    names = {path.relative_to(among) for path in among.rglob("*")}
    assert names == {path.relative_to(alone) for path in alone.rglob("*")}


def test_who_finishes_a_run_without_flite_knows_the_canaries_that_spoke(monkeypatch):
    job = SimpleNamespace(secret=Secret(b"0" * 32), sinks={"stt_am": 1, "stt_lm": 1, "slu": 1})
    monkeypatch.setattr(planted.shutil, "which", lambda program: f"/usr/bin/{program}")
    went_along = planted.invented(job, planted.shared_out(job, 30))
    assert any(canary.voice for canary in went_along)
    job.canaries = planted._in_batches(went_along, 7)
    monkeypatch.setattr(planted.shutil, "which", lambda program: None)
    assert planted.invented(job, planted.planted_in(job)) == went_along
    assert planted.invented(job, planted.shared_out(job, 30)) != went_along


# Stages of text, broken one by one


def unseen(self, code, texts):
    return [[] for _ in texts]


ROUTE, ROW = route._Route.process, TextSink.row


def each_turn_by_itself(self, batch):
    for utterance in batch:
        for passed in ROUTE(self, [utterance]):
            if passed.tag in self._weights:
                passed = type(passed)(route.choose_sink(self._secret, utterance.id, self._weights), passed.value)
            yield passed


def ids_by_dialogue(utterance, secret):
    row = ROW(utterance, secret)
    row.columns["id"] = secret.token("dialogue", utterance.dialogue_id)[:24] + row.columns["id"][:8]
    return row


BROKEN = {
    "detect": ("sottovoce.models.text.detect.ensemble:Ensemble.detect_in", unseen, "canary_words (text sinks)"),
    "replace": (
        "sottovoce.models.text.replace.placeholder:_Placeholder.replace",
        lambda self, utterance, secret: [],
        "canary_words (text sinks)",
    ),
    "route": (
        "sottovoce.transforms.sinks.route:_Route.process",
        each_turn_by_itself,
        "canaries_joined (in two sinks)",
    ),
    "unlink": (
        "sottovoce.transforms.sinks.stt_lm:TextSink.row",
        staticmethod(ids_by_dialogue),
        "canaries_joined (by ids)",
    ),
}
TEXT = ("--sinks", "stt_lm", "slu", "--audit", "--set", "audit={canaries: 60, unmeasured: allow}")
CORPUS = dialogues(4, say=lambda dialogue, turn: f"turn lamp {dialogue} on")


def reasons(run: Path) -> list[str]:
    content = json.loads((private_of(run) / "audit.json").read_text())
    return [reason.split(":")[0] for reason in content["reasons"]]


def test_a_run_whose_stages_work_holds(tmp_path):
    run = run_of(tmp_path, CORPUS, *TEXT)
    assert reasons(run) == []
    content = json.loads((private_of(run) / "audit.json").read_text())
    (read,) = [r for r in content["results"] if (r["attack"], r["where"]) == ("canary_words", "text sinks")]
    assert read["more"]["recall of PERSON"] == 1.0 and read["more"]["n of PHONE"] == 60 and read["people"] == 60
    place = private_of(run) / "canaries.json"
    found = json.loads(place.read_text())
    place.write_text(json.dumps(found | {"words": found["words"][:200]}))
    flags = ("--run", run, "--secret-file", tmp_path / "secret", "--set", "audit={canaries: 0, unmeasured: allow}")
    done = sottovoce("audit", *flags, check=False)
    assert done.returncode == 1 and "canaries.json is not what the run wrote" in done.stderr
    place.write_text(json.dumps(found))
    assert "text sinks" in sottovoce("audit", *flags, check=False).stdout, (
        "what went along counts, whatever is asked for now"
    )


@pytest.mark.parametrize("stage", BROKEN)
def test_breaking_a_stage_of_text_closes_the_gate(tmp_path, stage):
    target, instead, reason = BROKEN[stage]
    with weakened(stage, {target: instead}):
        run = run_of(tmp_path, CORPUS, *TEXT)
    assert reason in reasons(run)


# Stages of speech, on the chain that the stages of the graph call


@pytest.fixture(scope="module")
def aligned():
    """(the chain, four canaries of two voices, and one of them with its words found)"""
    made = invent(Secret(b"x" * 32), {"stt_am": 8}, lambda _: "stt_am", "stt_am", ("rms", "slt"))
    every_word = "align={use: pocketsphinx, misfits: refuse}"  # so that the masks are the names' alone
    chain = speech_chain(read_job(None, ["voice=mcadams", "slice.min_seconds=2", every_word]), Secret(b"y" * 32))
    chain.setup()
    found = []
    for canary in made[:4]:
        (_, name), text = canary.planted[0], canary.utterance.text
        at = text.index(name)
        utterance = dataclasses.replace(canary.utterance, spans=(Span(at, at + len(name), "PER"),))
        found.append((canary, Spoken(utterance, resample(planted.said(canary), 16_000))))
    return chain, made[:4], [(canary, chain.align(spoken)) for canary, spoken in found[:1]]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(by_canaries, "MIN_PEOPLE", 1)


SPEAKING = 8  # two of each voice
ALLOWED = {
    "canary_sound": 0.7,
    "canaries_joined": 0.7,
    "canary_voices": 0.8,
}  # of eight people, whose intervals are wide
SPEECH = (
    "--sinks", "stt_am", "--audit", "--set", "slice.min_seconds=2",
    "--set", f"audit={json.dumps({'canaries': SPEAKING, 'unmeasured': 'allow', 'max_risk': ALLOWED})}",
)  # fmt: skip
FAST, UNHEARD = ("--set", "voice=mcadams"), ("--set", "relisten=none")
ALIGN = PocketSphinx.align


def late(self, speech, text, language=None):
    return tuple(
        dataclasses.replace(word, begin_s=word.begin_s + 1.5, end_s=word.end_s + 1.5)
        for word in ALIGN(self, speech, text, language)
    )


def in_one(self, words, masked):
    kept = [number for number in range(len(words)) if number not in masked.indices]
    return [(kept[0], kept[-1])]


def nothing_masked(self, speech, stretches):
    return speech


def same_voice(self, utterance, speech, words, secret, slices=None):
    return Voiced(speech, tuple(words))


MASK = "sottovoce.models.speech.mask.fill:Silence.mask"
BROKEN_SPEECH = {
    "align": (
        (*FAST, *UNHEARD),
        {"sottovoce.models.speech.align.pocketsphinx:PocketSphinx.align": late},
        "canary_sound (stt_am)",
    ),
    "mask": ((*FAST, *UNHEARD), {MASK: nothing_masked}, "canary_sound (stt_am)"),
    "relisten, behind a mask that is broken": (
        FAST,
        {MASK: nothing_masked, "sottovoce.models.speech.chain:refuse_if_heard": lambda *_: None},
        "canary_sound (stt_am)",
    ),
    "voice": (
        UNHEARD,
        {"sottovoce.models.speech.voice.phonetic:Phonetic.transform": same_voice,
         "sottovoce.models.speech.chain:refuse_if_unchanged": lambda *_: None},
        "canary_voices (stt_am)",
    ),
    "slice": (
        (*FAST, *UNHEARD),
        {"sottovoce.models.speech.slice:Slicer.groups": in_one},
        "canaries_joined (in one piece)",
    ),
}  # fmt: skip


@pytest.fixture
def only_canaries(monkeypatch):
    """The other attacks cost more than these runs, and have their own laws."""
    monkeypatch.setattr(judge, "TABLE", {name: row for name, row in judge.TABLE.items() if "canar" in row})


def rate(run: Path, reason: str) -> float | None:
    content = json.loads((private_of(run) / "audit.json").read_text())
    (row,) = [row for row in content["results"] if f"{row['attack']} ({row['where']})" == reason]
    return row["attack_rate"]["value"] if "risk" in row else None


@pytest.mark.long  # whole runs: each speaks its canaries, aligns them and listens
@pytest.mark.parametrize("stage", BROKEN_SPEECH)
def test_breaking_a_stage_of_speech_closes_the_gate(tmp_path, only_canaries, stage):
    flags, instead, reason = BROKEN_SPEECH[stage]
    works = run_of(tmp_path / "works", demo_records(3), *SPEECH, *flags)
    assert rate(works, reason) <= 0.5 and reason not in reasons(works)
    with weakened(stage, instead):
        run = run_of(tmp_path / "broken", demo_records(3), *SPEECH, *flags)
    assert reason in reasons(run) and rate(run, reason) > 0.6


@pytest.mark.long
def test_who_listens_behind_a_broken_mask_refuses_some_and_the_gate_is_closed_by_the_others(tmp_path, only_canaries):
    with weakened("mask", {MASK: nothing_masked}):
        run = run_of(tmp_path, demo_records(3), *SPEECH, *FAST)
    evidence = json.loads((private_of(run) / "canaries.json").read_text())
    assert len(evidence["sound"]) < SPEAKING and "canary_sound (stt_am)" in reasons(run)


def verdict(attack, **evidence) -> str:
    found = {"planted": {"stt_am": 2}, "words": [], "sound": [], "voice": [], "joined": []} | evidence
    (outcome,) = [o for o in attack().outcomes(Material((), canaries=found)).values() if hasattr(o, "hits")]
    return judge._result(outcome, attack.max_risk, fit=True)["verdict"], float(outcome.hits.mean())


def listened(chain, found):
    made = {canary.person: speech_chain_of.masked(chain.masker, spoken).speech for canary, spoken in found}
    return planted._sound([canary for canary, _ in found], made)[0]


def test_words_are_gone_from_speech_whose_stages_work_and_heard_where_mask_or_aligner_is_broken(aligned, monkeypatch):
    chain, _, found = aligned
    assert verdict(by_canaries.CanarySound, sound=listened(chain, found))[1] == 0.0
    shifted = [
        (canary, dataclasses.replace(s, words=tuple(
            dataclasses.replace(w, begin_s=w.begin_s + 1.5, end_s=w.end_s + 1.5) for w in s.words
        )))
        for canary, s in found
    ]  # fmt: skip
    assert verdict(by_canaries.CanarySound, sound=listened(chain, shifted)) == ("fell", 1.0)
    monkeypatch.setattr(type(chain.masker), "mask", lambda self, speech, stretches: speech)
    assert verdict(by_canaries.CanarySound, sound=listened(chain, found)) == ("fell", 1.0)


def test_the_length_of_a_gap_and_what_is_heard_of_it_are_kept_for_the_attack(aligned, monkeypatch):
    chain, _, found = aligned
    made = {canary.person: speech_chain_of.masked(chain.masker, spoken).speech for canary, spoken in found}
    ((_, name, silence, heard, among),) = planted._sound([canary for canary, _ in found], made)[1]
    assert FIRST[name] == found[0][0].planted[0][1] and 0.2 < silence < 2.0 and not among and heard < len(FIRST)
    said = {canary.person: planted.said(canary) for canary, _ in found}
    ((*_, heard, among),) = planted._sound([canary for canary, _ in found], said)[1]
    assert among and heard >= 1


def test_a_voice_that_is_not_changed_is_recognised(aligned):
    _, made, _ = aligned
    evidence = planted._voices(made, {canary.person: planted.said(canary) for canary in made})
    assert verdict(by_canaries.CanaryVoices, voice=evidence) == ("fell", 1.0)


def test_an_utterance_that_is_not_cut_is_seen(aligned):
    chain, _, found = aligned
    canaries = [canary for canary, _ in found]
    job = type("Job", (), {"slice": chain.slicer})
    for slicer, expected in ((chain.slicer, 0.0), (dataclasses.replace(chain.slicer, min_seconds=100.0), 1.0)):
        cut = {
            planted._name(canary): speech_chain_of.cut(slicer, speech_chain_of.masked(chain.masker, spoken))
            for canary, spoken in found
        }
        joined = planted._in_one_piece(job, canaries, cut)
        assert verdict(by_canaries.CanariesJoined, joined=joined)[1] == expected


def test_an_ear_that_hears_nothing_in_the_originals_proves_nothing():
    sound = [[str(number), False, False, number == 0] for number in range(30)]
    found = {"planted": {"stt_am": 30}, "words": [], "sound": sound, "voice": [], "joined": []}
    outcome = by_canaries.CanarySound().outcomes(Material((), canaries=found))["stt_am"]
    assert "an ear that hears" in outcome.needs


def test_one_word_or_group_of_figures_of_a_value_is_enough_to_be_in_clear():
    assert in_clear("rosalind hathaway", "this is [PERSON] Hathaway") and in_clear("212-555-0199", "ring 0199")
    assert not in_clear("212-555-0199", "ring 555") and not in_clear("liverpool", "i live in [LOC]")
