"""Whole runs for tests: corpora of real demo speech, the command line in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import signal
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


def sottovoce(*arguments: object, check: bool = True) -> subprocess.CompletedProcess:
    """The command line in this process: Beam is imported once for all runs of a test file."""
    from sottovoce.pipelines.cli import main

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    level = logging.getLogger("apache_beam").level
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
    except SystemExit as stopped:  # argparse leaves this way
        code = int(stopped.code or 0)
    finally:
        logging.getLogger("apache_beam").setLevel(level)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return _checked(subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue()), check)


def in_its_own_process(
    *arguments: object, env: dict[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess:
    """For what only a process shows: its environment, and every byte of its output, C libraries included."""
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce.pipelines.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | (env or {}),
    )
    return _checked(done, check)


def _checked(done: subprocess.CompletedProcess, check: bool) -> subprocess.CompletedProcess:
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
