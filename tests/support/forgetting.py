"""Corpora for tests of `sottovoce forget`, and what of two runs must be equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whole_runs import private_of, sottovoce, write_manifest

ONCE = (
    "run_id",
    "created",
    "erasures",
    "files",
)  # of a commit: what two runs never share, and what is compared by itself


def by_turns(records: list[dict], *speakers: str) -> list[dict]:
    """Dialogues in which the speakers take turns."""
    return [record | {"speaker_id": speakers[number % len(speakers)]} for number, record in enumerate(records)]


def as_text(record: dict) -> dict:
    return {key: value for key, value in record.items() if key not in ("audio_filepath", "duration")}


def without(records: list[dict | str], **named: str) -> list[dict | str]:
    """The same corpus with blank lines where somebody spoke: what is left stands where it stood."""
    return [_blank_if(record, **named) for record in records]


def _blank_if(record: dict | str, **named: str) -> dict | str:
    fields = record if isinstance(record, dict) else {}
    return "" if any(fields.get(key) == value for key, value in named.items()) else record


def sanitised(folder: Path, records: list[dict | str], secret_file: Path, *flags: object) -> Path:
    """The output of a run on these records."""
    manifest = write_manifest(folder / "corpus", records)
    sottovoce("sanitize", "--input", manifest, "--output", folder / "out", "--secret-file", secret_file, *flags)
    return folder / "out"


def run_in(output: Path) -> Path:
    (run,) = output.glob("run-*")
    return run


def said_of(run: Path) -> dict[str, Any]:
    """What the commit says, without times and names of its own, and without the models that the process of the tests had
    loaded before."""
    commit = json.loads((run / "_COMMITTED.json").read_text())
    del commit["counts"]["models_loaded"]
    for stage in commit["counts"]["stages"].values():
        del stage["seconds"]
    return {key: value for key, value in commit.items() if key not in ONCE}


def ledger_of(run: Path) -> dict[str, Any]:
    return {key: value for key, value in json.loads((run / "ledger.json").read_text()).items() if key not in ONCE}


def tables(run: Path) -> dict[str, bytes]:
    """Every table of the run in both roots, byte for byte."""
    roots = (run, private_of(run))
    return {str(path.relative_to(root)): path.read_bytes() for root in roots for path in root.rglob("*.parquet")}


def tree(output: Path) -> dict[str, bytes]:
    """Every file below the output but the lock, which says who was last."""
    files = (path for path in output.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(output)): path.read_bytes() for path in sorted(files)}


def forget(output: Path, secret_file: Path, *whom: object) -> str:
    return sottovoce("forget", "--output", output, "--secret-file", secret_file, *whom).stdout
