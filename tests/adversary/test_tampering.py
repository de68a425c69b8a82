"""Attacker: may write into the folder of a committed run, not into the private one, before somebody trains on it.

Raw lines are put beside the shards, into them and in their place; a shard goes; the ledger says what the gate wants to
hear; the commit is taken away, or made to agree. What is won is what the training says of itself: that it began, and on
how many examples. A build that reads whatever lies there is shown first.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from adversary import Operator, weakened
from committed_run import commit, digest_of
from whole_runs import only_run, sottovoce

from sottovoce.models.records import Source
from sottovoce.pipelines.training import start_training as starting

pytestmark = pytest.mark.slow
COUNT = 24
WORDS = {"call": "phone", "play": "music", "stop": "other"}
# More than the run has: with fewer, one shard and these could be as many as the run by chance.
RAW = [
    {"id": f"{number:032x}", "text": f"stop 0{number}", "intent": "other", "slots": []} for number in range(COUNT + 1)
]
TRAIN = {
    "model": {"use": "clc", "hidden": 8, "word_size": 8, "buckets": 64, "filters": 4, "character_size": 4},
    "mode": "sound",
    "z0": 1.0,
    "epochs": 1,
    "batch_size": 4,
    "n_micro": 2,
    "validation_share": 0.0,
}


def corpus() -> list[dict]:
    said = [list(WORDS)[number % 3] for number in range(COUNT)]
    return [{"id": f"u{n}", "dialogue_id": f"d{n}", "speaker_id": f"s{n}", "turn": 0,
             "text": f"{word} alice {n}", "intent": WORDS[word]} for n, word in enumerate(said)]  # fmt: skip


@pytest.fixture(scope="module")
def committed(tmp_path_factory) -> Path:
    operator = Operator(tmp_path_factory.mktemp("once"))
    operator.run(corpus(), "--set", "sinks={slu: 1}", "--set", "replace={use: typed, p: 0.5}")
    return operator.out("out")


@pytest.fixture
def operator(committed, tmp_path) -> Operator:
    """With an output of its own to spoil."""
    made = Operator(tmp_path)
    shutil.copytree(committed, made.out("out"))
    (made.home / "train.yaml").write_text(yaml.safe_dump(TRAIN))
    return made


def run_of(operator: Operator) -> Path:
    return only_run(operator.out("out"))


# What the attacker does; each returns what the operator is going to train on, and the name that an error must tell.


def add_lines(run: Path) -> tuple[Path, str]:
    (run / "slu" / "zz.jsonl").write_text("".join(json.dumps(row) + "\n" for row in RAW))
    return run / "slu", "slu/zz.jsonl is in the run but not committed"


def add_shard(run: Path) -> tuple[Path, str]:
    pq.write_table(pa.Table.from_pylist(RAW), run / "slu" / "part-00002-of-00002.parquet")
    return run / "slu", "slu/part-00002-of-00002.parquet is in the run but not committed"


def edit_shard(run: Path) -> tuple[Path, str]:
    shard = sorted((run / "slu").iterdir())[0]
    table = pq.read_table(shard)
    pq.write_table(pa.concat_tables([table, pa.Table.from_pylist(RAW, schema=table.schema)]), shard)
    return run / "slu", f"slu/{shard.name} is not the file that was committed"


def remove_shard(run: Path) -> tuple[Path, str]:
    shard = sorted((run / "slu").iterdir())[0]
    shard.unlink()
    return run / "slu", f"slu/{shard.name} is committed but missing"


def edit_shard_and_name_it_alone(run: Path) -> tuple[Path, str]:
    _, error = edit_shard(run)
    return sorted((run / "slu").iterdir())[0], error


def take_the_commit_away(run: Path) -> tuple[Path, str]:
    edit_shard(run)
    (run / "_COMMITTED.json").unlink()
    return sorted((run / "slu").iterdir())[0], "it has no _COMMITTED.json"


def commit_it_anew(run: Path) -> tuple[Path, str]:
    edit_shard(run)
    commit(run)
    return run / "slu", "_COMMITTED.json is not the one that the run wrote"


ATTACKS = [add_lines, add_shard, edit_shard, remove_shard, edit_shard_and_name_it_alone, take_the_commit_away]
ATTACKS += [commit_it_anew]


def attack(operator: Operator, data: Path) -> tuple[int | None, str]:
    """(the number, or None where nothing was trained; what was said)."""
    done = sottovoce("train", "--data", data, "--config", operator.home / "train.yaml", check=False)
    began = re.search(r"on (\d+) examples", done.stdout)
    return int(began[1]) if began else None, done.stderr


def whatever_lies_there(path: Path, *_: Any) -> Iterator[tuple[Source, Any]]:
    """Every file of a folder, or the one file, as it is: what training did before it asked anybody."""
    for file in [path] if path.is_file() else sorted(path.iterdir()):
        parquet = file.suffix == ".parquet"
        rows = pq.read_table(file).to_pylist() if parquet else [json.loads(line) for line in file.open()]
        for line, row in enumerate(rows, 1):
            yield Source(file.name, line), row


# Charging people and naming the run ask the commit as well, and would stop some of the attacks by themselves.
READS_NO_COMMIT = {
    "sottovoce.models.training.loop.prepare:rows_of": whatever_lies_there,
    "sottovoce.pipelines.training.train_model:charge_by_hand": lambda *_: None,
    "sottovoce.pipelines.training.train_model:_origin": lambda _: {},
}


@pytest.mark.parametrize("meddling", ATTACKS)
def test_a_build_that_reads_whatever_lies_there_trains_on_it(operator, meddling):
    data, _ = meddling(run_of(operator))
    with weakened("reading by the commit", READS_NO_COMMIT):
        trained_on, _ = attack(operator, data)
    assert trained_on is not None and trained_on != COUNT


@pytest.mark.parametrize("meddling", ATTACKS)
def test_ours_names_the_file_and_trains_on_nothing(operator, meddling):
    data, error = meddling(run_of(operator))
    trained_on, said = attack(operator, data)
    assert trained_on is None and error in said
    assert not (operator.out("out") / "trained").exists()


def test_ours_trains_on_all_of_a_run_that_nobody_touched(operator):
    assert attack(operator, run_of(operator) / "slu")[0] == COUNT


# The gate


def edit_ledger(run: Path) -> str:
    """The replacement keeps half of the names, which the ledger calls infinite. Now it says that nothing is kept."""
    text = (run / "ledger.json").read_text()
    assert '"inf"' in text
    (run / "ledger.json").write_text(text.replace('"inf"', "0.0"))
    return "ledger.json is not the file that was committed"


def edit_ledger_and_commit(run: Path) -> str:
    edit_ledger(run)
    commit(run, json.loads((run / "_COMMITTED.json").read_text())["counts"])
    return "_COMMITTED.json is not the one that the run wrote"


def put_an_audit_beside_it(run: Path) -> str:
    (run / "audit.json").write_text(json.dumps({"commit": digest_of(run), "held": True, "reasons": [], "results": []}))
    return "audit.json is in the run but not committed"


def edit_report(run: Path) -> str:
    (run / "report.html").write_text("<p>all is well</p>")
    return "report.html is not the file that was committed"


def edit_config(run: Path) -> str:
    (run / "config.yaml").write_text("replace: {use: redact, p: 1.0}\n")
    return "config.yaml is not the file that was committed"


GATES = {
    edit_ledger: {"max_epsilon": {"unit": 1.0}},
    edit_ledger_and_commit: {"max_epsilon": {"unit": 1.0}},
    put_an_audit_beside_it: {"audit": True},
    edit_report: {},
    edit_config: {},
}


@pytest.fixture
def started(operator, tmp_path, monkeypatch):
    """Ask for a training; in its place stands a program that ends at once."""
    (tmp_path / "train.py").write_text("")
    monkeypatch.setattr(starting, "TRAIN", (str(tmp_path / "train.py"),))

    def start(gate: dict[str, Any]) -> tuple[bool, str]:
        launch = {"launch": {"use": "local", "poll_s": 0.05}, "gate": {"audit": False} | gate}
        (operator.home / "launch.yaml").write_text(yaml.safe_dump(launch))
        files = ("--config", operator.home / "train.yaml", "--launch", operator.home / "launch.yaml")
        done = sottovoce("start-training", "--run", run_of(operator), *files, check=False)
        return done.returncode == 0, done.stderr

    return start


UNCHECKED = {
    "sottovoce.models.runs.committed_run:CommittedRun.verify": lambda self, sinks=None: None,
    "sottovoce.models.runs.committed_run:CommittedRun.read": lambda self, path: Path(self.location, path).read_bytes(),
    "sottovoce.models.runs.committed_run:CommittedRun._check_seal": lambda self, private: None,
}


@pytest.mark.parametrize("meddling", [edit_ledger, edit_ledger_and_commit])
def test_a_gate_that_believes_the_files_is_opened_by_editing_them(operator, started, meddling):
    assert not started(GATES[meddling])[0]  # as it is, the run does not pass
    meddling(run_of(operator))
    with weakened("files compared with a sealed commit", UNCHECKED):
        assert started(GATES[meddling])[0]


@pytest.mark.parametrize("meddling", GATES)
def test_our_gate_stays_closed_and_names_the_file(operator, started, meddling):
    error = meddling(run_of(operator))
    opened, said = started(GATES[meddling])
    assert not opened and error in said


def test_the_ledger_of_the_run_is_infinite_as_this_test_needs_it(operator):
    ledger = json.loads((run_of(operator) / "ledger.json").read_text())
    (row,) = (row for row in ledger["mechanisms"] if row["stage"] == "replace")
    assert float(row["sound"]["unit"]) == math.inf
