"""One file and one row add a capability: a minimal member of every table, written to a temporary folder, runs end to end.

The file has exactly what the Protocols ask for and nothing else. If a run needs more of a member, it fails here.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from committed_run import detector, make_run, replacement
from whole_runs import demo_records, only_run, rows, sottovoce, write_manifest, write_secret

from sottovoce.models.evaluation import audit
from sottovoce.models.settings import TABLES
from sottovoce.models.text import languages
from sottovoce.pipelines import cli

GUEST = '''
"""Members of a guest: as little as the Protocols allow."""
import json
from dataclasses import dataclass, replace
from typing import ClassVar

import apache_beam as beam
import numpy as np

from sottovoce.models.corpus import Chunk
from sottovoce.models.evaluation.audit.trials import Trials
from sottovoce.models.evaluation.metrics.estimate import Estimate
from sottovoce.models.forget.whose import part_of_utterance
from sottovoce.models.launch import Handle, JobStatus
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Edit, Safe, Source, Span, Utterance, Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.voice import Voiced
from sottovoce.models.text.rewrite import RewritesEach
from sottovoce.transforms.engine.stage import Outputs
from sottovoce.transforms.sinks.sink import Sink
from sottovoce.transforms.write.rows import to_row


def entry(stage):
    return LedgerEntry(stage, "guest", f"The guest's {stage}.", ("everything else",))


@dataclass
class Detector:
    def setup(self): pass
    def detect(self, texts): return [[Span(0, len(text.split()[0]), "FIRST")] for text in texts]
    def finds(self): return frozenset({"FIRST"})
    def ledger(self): return entry("detect")


@dataclass
class Strategy:
    def setup(self): pass
    def replace(self, utterance, secret): return [Edit(span.begin, span.end, "guest") for span in utterance.spans]
    def cost(self, utterance): return 0.0
    def costs(self, utterance, secret): return {}
    def ledger(self, detector=None): return entry("replace")


@dataclass
class Rewriter(RewritesEach):
    def setup(self): pass
    def released(self, sinks): return ("that there was a text",)
    def serves(self, sink, from_text): return None
    def rewrite(self, utterance, secret): return replace(utterance, text=f"{utterance.text} guest", slots=())
    def cost(self): return 1.0
    def ledger(self, detector=None): return entry("rewrite")


@dataclass
class Aligner:
    def setup(self): pass

    def align(self, speech, text, language=None):
        parts, begin = text.split(), 0
        step, words = speech.duration_s / len(text.split()), []
        for number, part in enumerate(parts):
            begin = text.index(part, begin)
            words.append(Word(begin, begin + len(part), number * step, (number + 1) * step, 1.0))
            begin += len(part)
        return tuple(words)

    def ledger(self): return entry("align")


@dataclass
class Voice:
    def setup(self): pass

    def transform(self, utterance, speech, words, secret, slices=None):
        return Voiced(Speech(speech.samples * 0.5, speech.rate_hz), tuple(words))

    def ledger(self): return entry("voice")


@dataclass
class Mask:
    guard_ms: float = 0.0

    def setup(self): pass

    def mask(self, speech, stretches):
        samples = speech.samples.copy()
        for begin, end in self.intervals(speech, stretches):
            samples[begin:end] = 0
        return Speech(samples, speech.rate_hz)

    def intervals(self, speech, stretches):
        return [(int(begin * speech.rate_hz), int(end * speech.rate_hz)) for begin, end in stretches]

    def ledger(self): return entry("mask")


@dataclass
class Listener:
    def setup(self): pass
    def heard(self, speech, text, words, masked): return frozenset()
    def ledger(self): return entry("relisten")


@dataclass(frozen=True, slots=True)
class Length(Safe):
    id: str
    letters: int


class LengthSink(Sink):
    record_type = Length
    mechanisms = ("replace",)
    stages = ("measure",)
    holds = "how long each text is"
    released = ("the length of every text",)

    def expand(self, batches):
        def measured(batch, secret):
            made = [(secret.token("length", u.dialogue_id, u.id), u) for u in batch]
            return [to_row(name, u.source, Length(name, len(u.text)), part_of_utterance(secret, u)) for name, u in made]

        return Outputs(batches | beam.Map(measured, self._job.secret), (), ())


@dataclass(frozen=True)
class LineReader:
    """A text a line."""

    patterns: ClassVar[tuple[str, ...]] = ("*.guest",)
    records_per_batch: int = 8

    def scan(self, file, open_file):
        yield Chunk(file, 0, file.size, 1)

    def parse(self, chunk, open_file):
        with open_file(chunk.file.uri) as stream:
            for number, line in enumerate(stream.read().decode().splitlines(), 1):
                yield Utterance(str(number), str(number), 0, line, Source(chunk.file.label, number))

    def count(self, file, open_file):
        with open_file(file.uri) as stream:
            return stream.read().count(b"\\n")


class Exporter:
    sinks = ("slu",)
    says = "one text a line"

    def write(self, run, sinks, folder, target):
        texts = [row["text"] for group in run.groups("slu") for row in group]
        (folder / "texts").write_text("\\n".join(texts))
        return {"texts": len(texts)}


@dataclass(frozen=True)
class Launcher:
    folder: str = ""
    processes: int = 1

    def submit(self, job):
        return Handle("guest-" + job.key, job.folder)

    def status(self, handle): return JobStatus("succeeded")
    def watch(self, handle): yield JobStatus("succeeded")
    def logs(self, handle): return "done by the guest"
    def cancel(self, handle): pass


class Attacker:
    def scores(self, recordings, split, count):
        shape = (len(split.speakers), len(split.speakers), split.tested.shape[1] // count)
        yield "guess", np.random.default_rng(0).normal(size=shape)


class Auditor:
    criterion = "inference"
    says = "guesses"
    max_risk = 0.9

    def outcomes(self, material): return {"everywhere": Trials(np.ones(30), np.full(30, 0.5), list("ab" * 15))}
    def leaks_nothing(self, rng): return None
    def leaks_by_design(self, rng): return None


def metric(mated, non_mated):
    return {"guest_gap": Estimate(float(np.mean(mated) - np.mean(non_mated)), 0.0, 1.0)}


EXAMPLES = "  sottovoce evaluate guest"


def add_arguments(parser):
    parser.add_argument("--word", default="nothing")


def run(args):
    print(f"the guest measured {args.word}")
    return 0
'''
GUEST_LANGUAGE = '''
"""The guest's words: a file that needs nothing but what every language is made of."""
from sottovoce.models.text.languages import Language, numbers

_NUMBERS, _VALUES = numbers("nul un du tri kvar kvin ses sep ok nau", "dek dekun dekdu", "dudek tridek")
LANGUAGE = Language(
    names=("guestish",), classes=_NUMBERS | {"m": "januaro", "w": "lundo", "O": "horo"}, values=_VALUES, at="che", dot="punkto",
    joins="punkto", slash="streko", not_local="mia", titles="sinjoro", regions=("DE",), times="HO",
)
'''
FAMILIES = {
    "detect": "Detector",
    "replace": "Strategy",
    "rewrite": "Rewriter",
    "align": "Aligner",
    "voice": "Voice",
    "mask": "Mask",
    "relisten": "Listener",
    "corpus": "LineReader",
    "export": "Exporter",
    "launch": "Launcher",
}
OTHER_TABLES = {
    "sottovoce.transforms.sinks": "LengthSink",
    "sottovoce.models.evaluation.attacks": "Attacker",
    "sottovoce.models.evaluation.audit": "Auditor",
    "sottovoce.models.evaluation.metrics": "metric",
}


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    return write_secret(tmp_path / "secret")


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One file, and one row in each table; the language, which the first text needs, has a file of its own."""
    folder = tmp_path / "guest_house"
    folder.mkdir()
    (folder / "house_guest.py").write_text(GUEST)
    (folder / "guest_words.py").write_text(GUEST_LANGUAGE)
    monkeypatch.syspath_prepend(str(folder))
    tables = {TABLES[family]: name for family, name in FAMILIES.items()} | OTHER_TABLES
    for module, name in tables.items():
        monkeypatch.setitem(importlib.import_module(module).TABLE, "guest", f"house_guest:{name}")
    monkeypatch.setitem(languages.TABLE, "guest", "guest_words:LANGUAGE")
    monkeypatch.setitem(cli.COMMANDS, "evaluate guest", ("house_guest", "measure what the guest likes"))
    yield "guest"
    for module in ("house_guest", "guest_words"):
        sys.modules.pop(module, None)


def test_every_table_of_the_settings_has_a_guest():
    by_contract = {"learners", "speakers", "training", "tasks"}  # tried by contract tests of their own
    assert set(TABLES) - by_contract == set(FAMILIES)


@pytest.mark.slow
def test_a_run_with_a_guest_in_every_family_reaches_the_report(guest, tmp_path, secret_file, monkeypatch):
    manifest = write_manifest(tmp_path / "in", demo_records(6))
    members = [f"--set={family}=guest" for family in ("detect", "replace", "align", "voice", "mask", "relisten")]
    for sink in ("stt_am", "slu", "guest"):
        out = tmp_path / sink
        flags = ["--input", manifest, "--output", out, "--secret-file", secret_file, "--set", f"sinks={{{sink}: 1}}"]
        sottovoce("sanitize", *flags, *members)
        run = only_run(out)
        ledger = json.loads((run / "ledger.json").read_text())
        assert "guest" in {row["mechanism"] for row in ledger["mechanisms"]}
        assert rows(run, sink) and not rows(run, "failures")
    assert "the length of every text" in ledger["released_exactly"]
    assert "how long each text is" in (run / "report.html").read_text()
    run = only_run(tmp_path / "slu")
    # The others take their time, and have tests of their own. The table is emptied in place, as modules hold it; last first, so
    # that they come back in their order.
    for other in reversed([name for name in audit.TABLE if name != guest]):
        monkeypatch.delitem(audit.TABLE, other)
    attacked = sottovoce("audit", "--run", run, "--secret-file", secret_file, check=False)
    assert (
        attacked.returncode == 3 and "guest" in attacked.stdout
    )  # it wins wherever it is tried, so it cannot be believed
    sottovoce("export", "--run", run, "--format", "guest", "--output", tmp_path / "exported")
    assert all(line.startswith("guest ") for line in (tmp_path / "exported/texts").read_text().splitlines())


@pytest.mark.slow
def test_a_guest_reads_its_own_format_and_rewrites_it(guest, tmp_path, secret_file):
    corpus = tmp_path / "lines.guest"
    corpus.write_text("call anna\nturn it on\n")
    flags = ["--input", corpus, "--output", tmp_path / "out", "--secret-file", secret_file]
    sottovoce("sanitize", *flags, "--set=sinks={stt_lm: 1}", "--set=detect=rules", "--set=rewrite=guest")
    assert {row["text"] for row in rows(only_run(tmp_path / "out"), "stt_lm")} == {
        "call anna guest",
        "turn it on guest",
    }


def test_a_guest_language_is_searched_by_its_own_words(guest):
    from sottovoce.models.settings import languages_of, read_spec

    rules = read_spec("detect", "rules")
    assert guest in languages_of(rules) and guest not in languages_of(read_spec("detect", "default"))
    text = "sinjoro miller je tri horo lundo mia anna che example punkto com nul sep sep un du tri kvar"
    found = {span.type: text[span.begin : span.end] for span in rules.make().detect_in(guest, [text])[0]}
    assert found == {
        "PER": "miller", "TIME": "tri horo", "DATE": "lundo", "EMAIL": "anna che example punkto com",
        "PHONE": "nul sep sep un du tri kvar",
    }  # fmt: skip


@pytest.mark.slow
def test_a_guest_language_goes_from_a_record_to_the_card(guest, tmp_path, secret_file):
    said = {"dialogue_id": "1", "text": "sinjoro miller je tri horo", "language": guest}
    manifest = write_manifest(tmp_path / "in", [said])
    flags = ["--input", manifest, "--output", tmp_path / "out", "--secret-file", secret_file]
    sottovoce("sanitize", *flags, "--set=sinks={stt_lm: 1}", "--set=detect=rules", "--set=replace=typed")
    run = only_run(tmp_path / "out")
    assert [row["text"] for row in rows(run, "stt_lm")] == ["sinjoro [PER] je [TIME]"]
    assert json.loads((run / "_COMMITTED.json").read_text())["languages"] == [guest]


def test_a_guest_launcher_gets_the_job(guest, tmp_path):
    from sottovoce.pipelines.training.order import read_launch

    run = make_run(tmp_path / "out" / "run-1", entries=(detector(atis=0.9), replacement({"unit": 0.0})))
    (tmp_path / "train.yaml").write_text("mode: plain\nepochs: 1\n")
    (tmp_path / "launch.yaml").write_text("launch: guest\ngate: {audit: off}\n")
    settings = ["--config", tmp_path / "train.yaml", "--launch", tmp_path / "launch.yaml"]
    assert "guest-" in sottovoce("start-training", "--run", run, *settings).stdout
    assert "succeeded" in sottovoce("jobs", "status", run).stdout
    assert sottovoce("jobs", "logs", run).stdout == "done by the guest"
    assert read_launch("guest").launch.name == guest  # by its row alone, with the gate as it is by default


def test_guests_measure_and_attack(guest, tmp_path):
    import numpy as np

    from sottovoce.models.evaluation.attacks.speaker_linkage import Design, Recordings, attacks

    for name, mean in (("mated", 1.0), ("other", 0.0)):
        (tmp_path / name).write_text("\n".join(map(str, np.random.default_rng(0).normal(mean, 1, 60))))
    scores = ["--mated", tmp_path / "mated", "--non-mated", tmp_path / "other"]
    assert "guest_gap" in sottovoce("evaluate", "scores", *scores).stdout
    assert "the guest measured wind" in sottovoce("evaluate", "guest", "--word", "wind").stdout
    voices = np.random.default_rng(1).normal(size=(40, 8))
    tried = attacks(Recordings(np.repeat(np.arange(8).astype(str), 5), voices, voices), Design(together=(1,)))
    assert "guest" in {attack.attacker for attack in tried}


def test_a_guest_attacks_a_run_and_is_calibrated_and_judged(guest):
    from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
    from sottovoce.models.evaluation.audit.judge import attacked
    from sottovoce.models.evaluation.audit.material import Material
    from sottovoce.models.evaluation.audit.trials import NotApplicable

    results, fitness = attacked(Material.without(NotApplicable("nothing"), ()), AuditSettings())
    (row,) = [row for row in results if row["attack"] == "guest"]
    assert row["attack_rate"]["value"] == 1.0 and row["allowed"] == 0.9
    assert row["verdict"] == "failed" and not fitness[0]["fit"]  # it wins wherever it is tried: it cannot be believed
