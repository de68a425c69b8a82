"""Whole runs for tests: corpora of real demo speech, the command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "demo"


def demo_records(count: int | None = None) -> list[dict]:
    lines = (DEMO / "manifest.jsonl").read_text().splitlines()[:count]
    records = [json.loads(line) for line in lines]
    for record in records:
        record["audio_filepath"] = str(DEMO / record["audio_filepath"])
    return records


def write_manifest(folder: Path, records: list[dict | str | bytes]) -> Path:
    """Dictionaries become JSON; text and bytes stand as they are (broken lines)."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for record in records:
        line = json.dumps(record) if isinstance(record, dict) else record
        lines.append(line if isinstance(line, bytes) else line.encode())
    path = folder / "manifest.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def sottovoce(*arguments: object, env: dict[str, str] | None = None, check: bool = True) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce.pipelines.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | (env or {}),
    )
    assert not check or done.returncode == 0, done.stderr[-2000:]
    return done


def only_run(output: Path) -> Path:
    (run,) = output.iterdir()
    return run


def rows(run: Path, sink: str) -> list[dict]:
    return [row for part in sorted(run.glob(f"{sink}/*.parquet")) for row in pq.read_table(part).to_pylist()]


def everything(run: Path) -> dict[str, list[dict]]:
    """Every record of a run, by sink: two runs are equal when these are."""
    return {sink: rows(run, sink) for sink in ("stt_am", "stt_lm", "slu", "dm", "failures")}
