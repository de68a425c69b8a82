"""Whole runs for tests: corpora of real demo speech, the command line in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import shutil
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
    """Dictionaries become JSON; text and bytes stand as they are (broken lines). Demo speech comes to lie beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for record in records:
        line = json.dumps(_beside(folder, record)) if isinstance(record, dict) else record
        lines.append(line if isinstance(line, bytes) else line.encode())
    path = folder / "manifest.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def write_secret(path: Path, name: str = "of this test") -> Path:
    """A secret file as one should be: 32 bytes that look random, readable by its owner. The same for the same name."""
    path.write_bytes(hashlib.sha256(f"secret {name}".encode()).digest())
    path.chmod(0o600)
    return path


def _beside(folder: Path, record: dict) -> dict:
    """A recording is read only from beside its manifest, unless the job says more."""
    source = Path(str(record.get("audio_filepath", "")))
    if not source.is_relative_to(DEMO):
        return record
    copy = folder / "demo" / source.relative_to(DEMO)
    if not copy.exists() and source.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    return record | {"audio_filepath": str(copy)}


UNLIMITED = ("--set", "limits.max_failures=null", "--set", "limits.all_refused=true")


def _with_bad_records(arguments: tuple[object, ...]) -> list[str]:
    """Corpora of tests hold mostly bad records on purpose, which a run by default commits nothing of: no limit, unless named."""
    words = [str(argument) for argument in arguments]
    unlimited = words[:1] in (["sanitize"], ["nightly"]) and not any(
        "max" in word and "failures" in word for word in words
    )
    at = words.index("--") if "--" in words else len(words)
    return words[:at] + [*UNLIMITED] * unlimited + words[at:]


def sottovoce(*arguments: object, check: bool = True) -> subprocess.CompletedProcess:
    """The command line in this process: Beam is imported once for all runs of a test file."""
    from sottovoce.pipelines.cli import main

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    level = logging.getLogger("apache_beam").level
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(_with_bad_records(arguments))
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
        [sys.executable, "-m", "sottovoce.pipelines.cli", *_with_bad_records(arguments)],
        capture_output=True,
        text=True,
        env=os.environ | (env or {}),
    )
    return _checked(done, check)


def _checked(done: subprocess.CompletedProcess, check: bool) -> subprocess.CompletedProcess:
    assert not check or done.returncode == 0, done.stderr[-2000:]
    return done


def only_run(output: Path) -> Path:
    (run,) = (path for path in output.iterdir() if path.name != "private")
    return run


def private_of(run: Path) -> Path:
    """Where the run keeps what may not be handed on."""
    return run.parent / "private" / "runs" / run.name


def rows(run: Path, sink: str) -> list[dict]:
    root = private_of(run) if sink in ("failures", "state", "index") else run
    return [row for part in sorted(root.glob(f"{sink}/*.parquet")) for row in pq.read_table(part).to_pylist()]


def everything(run: Path) -> dict[str, list[dict]]:
    """Every record of a run, by sink: two runs are equal when these are."""
    return {sink: rows(run, sink) for sink in ("stt_am", "stt_lm", "slu", "dm", "failures")}


def texts_of(run: Path) -> list[str]:
    """Every text of the sinks of text, a dialogue's turns one by one."""
    lines = [row["text"] for sink in ("stt_lm", "slu") for row in rows(run, sink)]
    return lines + [turn["text"] for row in rows(run, "dm") for turn in row["turns"]]
