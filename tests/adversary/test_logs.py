"""Attacker: reads the terminal, the cron mail or the collected logs of a run, at whatever level its host logs.

Errors of stages become failures; here something breaks beside the stages, with an error that quotes what it worked on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from adversary import QUICK, Operator, as_outsider, dialogues, weakened
from whole_runs import write_manifest

pytestmark = pytest.mark.slow
PLANTED = {"word": "petronella", "dialogue": "quetzalroom", "speaker": "oswaldina", "utterance": "zirconturn"}
RECORDS = [
    record
    | {
        "text": f"tell {PLANTED['word']} and alice {number}",
        "id": f"{PLANTED['utterance']}{number}",
        "dialogue_id": f"{PLANTED['dialogue']}{number // 2}",
        "speaker_id": PLANTED["speaker"],
    }
    for number, record in enumerate(dialogues(6))
]
# Where an error may arise that no stage catches: from the first join to the last write.
PLACES = (
    "sottovoce.transforms.nightly.taken:part_of",
    "sottovoce.transforms.sinks.route:choose_sink",
    "sottovoce.transforms.write.shards:pack",
    "sottovoce.transforms.write.shards:write_parquet",
)
AS_BEFORE = {
    "sottovoce.pipelines.sanitize.graph:scrub_errors": lambda pipeline: None,
    "sottovoce.pipelines.sanitize.run:silent_logs": contextlib.nullcontext,
}


def break_quoting(*arguments: Any, **named: Any) -> None:
    raise ValueError(f"cannot handle {[_content(value) for value in arguments]}")


def _content(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_content(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return str(value)
    return {field.name: _content(getattr(value, field.name)) for field in dataclasses.fields(value)}


def attack(log: str, secret: bytes) -> set[str]:
    """What of the planted things stands in the log."""
    found = {what for what, planted in PLANTED.items() if planted in log}
    return found | ({"secret"} if any(form in log for form in (repr(secret)[2:-1], secret.hex())) else set())


@contextlib.contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """A host that logs all there is."""
    collected, level = io.StringIO(), logging.root.level
    handler = logging.StreamHandler(collected)
    logging.root.addHandler(handler)
    logging.root.setLevel(1)
    try:
        yield collected
    finally:
        logging.root.removeHandler(handler)
        logging.root.setLevel(level)


def log_of(operator: Operator, *flags: object) -> str:
    with everything_logged() as collected:
        done = operator.run(RECORDS, *flags, check=False)
    return collected.getvalue() + done.stdout + done.stderr


@pytest.mark.parametrize("place", PLACES)
def test_logs_of_a_build_that_passes_errors_on_quote_records(place, tmp_path):
    operator = Operator(tmp_path)
    with weakened("scrubbed errors", {place: break_quoting, **AS_BEFORE}):
        assert as_outsider(attack, log_of(operator), operator.secret)


@pytest.mark.parametrize("place", PLACES)
def test_our_logs_tell_type_and_place_of_an_error_and_nothing_else(place, tmp_path):
    operator = Operator(tmp_path)
    with weakened("an error that is foreseen", {place: break_quoting}):
        log = log_of(operator)
    assert "the pipeline failed" in log and not list(operator.hand_over().runs)
    assert not as_outsider(attack, log, operator.secret)


def test_our_logs_of_a_good_run_hold_nothing_at_any_level(tmp_path):
    operator = Operator(tmp_path)
    log = log_of(operator)
    assert operator.hand_over().runs and "is committed" in log
    assert not as_outsider(attack, log, operator.secret)


BREAKS = """
import sottovoce.transforms.write.rows as rows
def pack(packed):
    raise ValueError([(row.columns, row.source) for row in packed])
rows.pack = pack
"""


def log_of_worker_processes(tmp_path: Path, **environment: str) -> str:
    """What two worker processes and their driver print when writing breaks in a worker."""
    operator = Operator(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BREAKS)
    paths = ("--output", operator.out("out"), "--secret-file", operator.secret_file)
    arguments = ("sanitize", "--input", write_manifest(operator.home / "corpus", RECORDS), *paths, *QUICK)
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce.pipelines.cli", *map(str, arguments), "--workers", "2"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    return done.stdout + done.stderr


def test_worker_processes_that_debug_quote_records(tmp_path):
    assert "word" in as_outsider(attack, log_of_worker_processes(tmp_path, SOTTOVOCE_DEBUG="1"), b"no secret")


def test_our_worker_processes_do_not_quote_records(tmp_path):
    log = log_of_worker_processes(tmp_path)
    assert "nothing was committed" in log
    assert not as_outsider(attack, log, b"no secret")
