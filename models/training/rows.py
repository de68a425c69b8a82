"""Rows to learn from: of a sink of a committed run, or of JSON lines that somebody made.

Whatever lies in a run is read as that run: the folder must hold exactly what was committed, the rows are those of the listed
shards, and each shard is parsed from the bytes that were hashed. Parquet is read of a run only, so that a shard cannot be
taken out of reach of its commit; JSON lines are nobody's release, and are read as they are.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.records import Source
from sottovoce.models.runs.committed_run import CommittedRun, open_local
from sottovoce.models.runs.places import COMMITTED, RUNS, TRAINED

SLU, SLU_COLUMNS = "slu", frozenset({"text", "intent", "slots"})
LINES = (".jsonl", ".jsonl.gz")

_is_called_a_run = re.compile(r"run-[0-9a-f]{12}").fullmatch
Row = tuple[Source, Mapping[str, Any]]


def rows_of(
    path: Path,
    commit: str | None = None,
    sink: str = SLU,
    columns: frozenset[str] = SLU_COLUMNS,
    units: Mapping[str, str] | None = None,
) -> Iterator[Row]:
    """`commit` is the sha256 of the one commit that may be read, where the caller has judged one.

    `units` say whose the rows of a run are, which the rows themselves do not: each gets its `speaker` from there."""
    if not path.exists():
        raise CorpusError(
            f"{path}: does not exist; expected a committed run, or a file or folder of {', '.join(LINES)}"
        )
    folder = run_around(path)
    if folder is not None:
        for source, row in _of_run(open_judged(folder, commit), path.resolve(), sink, columns):
            if units is not None and row["id"] not in units:
                raise RunError(
                    f"{source.file}: row {source.line}: the units of this run do not know it; nothing was trained"
                )
            yield source, row if units is None else {**row, "speaker": units[row["id"]]}
        return
    if commit is not None:
        raise RunError(f"{path}: lies in no committed run; expected the run whose commit is {commit[:12]}")
    for file in _files(path):
        yield from _of_lines(file)


def run_around(path: Path) -> Path | None:
    """The run that a path lies in, where links lead: by its commit, or by the name of one that has lost it."""
    real = path.resolve()
    for folder in (real, *real.parents):
        named = _is_called_a_run(folder.name) and folder.parent.name not in (RUNS, TRAINED)
        if named or (folder / COMMITTED).exists():
            return folder
    return None


def open_judged(folder: Path, commit: str | None) -> CommittedRun:
    """The committed run in a folder; RunError where `commit` is given and it has another by now."""
    run = open_local(str(folder))
    if commit is not None and run.digest != commit:
        raise RunError(f"{folder} was committed anew since it was judged; start its training again")
    return run


def _of_run(run: CommittedRun, real: Path, sink: str, columns: frozenset[str]) -> Iterator[Row]:
    run.verify([sink])
    inside = str(real.relative_to(run.location))
    shards = run.paths_of(sink)
    if inside in shards:
        shards = [inside]
    elif inside not in (".", sink):
        raise RunError(
            f"{run.location}: {inside} is no shard of its {sink} sink; expected the run, its {sink}, or a shard of it"
        )
    if not run.rows(sink):
        others = sorted({shard.sink for shard in run.shards if shard.rows}) or ["none"]
        raise RunError(f"{run.location}: no {sink} rows to train on; sinks with rows: {', '.join(others)}")
    for path in shards:
        yield from _of_shard(path, run.read(path), sink, columns)


def _of_shard(path: str, content: bytes, sink: str, columns: frozenset[str]) -> Iterator[Row]:
    import pyarrow.parquet as parquet
    from pyarrow import ArrowInvalid

    name = path.rpartition("/")[2]
    try:
        table = parquet.ParquetFile(io.BytesIO(content))
    except (ArrowInvalid, OSError):
        raise CorpusError(f"{name}: not a Parquet file, or damaged") from None
    missing = columns - set(table.schema_arrow.names)
    if missing:
        raise CorpusError(f"{name}: columns {', '.join(sorted(missing))} are missing; expected the sink {sink}")
    rows = (row for batch in table.iter_batches() for row in batch.to_pylist())
    for line, row in enumerate(rows, 1):
        yield Source(name, line), row


def _files(path: Path) -> list[Path]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    if shards := [file.name for file in files if file.name.endswith(".parquet")]:
        raise RunError(
            f"{path}: {shards[0]} is in no committed run (there is no {COMMITTED}): nobody vouches for it. Give the run"
        )
    files = [file for file in files if file.name.endswith(LINES)]
    if not files:
        raise CorpusError(f"{path}: no data to train on; expected a committed run, {' or '.join(LINES)}")
    return files


def _of_lines(file: Path) -> Iterator[Row]:
    for number, line in _numbered(file):
        try:
            row = json.loads(line, parse_constant=_no_number)
        except _NoNumber as name:
            raise CorpusError(
                f"{file.name}: line {number}: {name} is no number of JSON; give the value, or null"
            ) from None
        except json.JSONDecodeError:
            row = None
        if not isinstance(row, dict):
            raise CorpusError(f"{file.name}: line {number}: not a JSON object")
        audio = row.get("audio", row.get("audio_filepath"))
        if row.get("speaker") is None and row.get("speaker_id") is not None:  # as manifests call them
            row["speaker"] = row["speaker_id"]
        if not isinstance(row.get("speaker"), str | int | None):
            raise CorpusError(f"{file.name}: line {number}: speaker: expected text or a whole number")
        if isinstance(audio, str):  # beside the file that names it
            row["audio"] = str(file.parent / audio)
        yield Source(file.name, number), row


def _numbered(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that hold something, with their numbers."""
    open_text: Any = gzip.open if file.suffix == ".gz" else open
    number = 0
    try:
        with open_text(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except UnicodeDecodeError:
        raise CorpusError(f"{file.name}: not UTF-8 text after line {number}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise CorpusError(f"{file.name}: not a gzip file, or damaged after line {number}") from None


class _NoNumber(Exception):
    pass


def _no_number(name: str) -> Any:
    """NaN and Infinity, which Python's reader lets through."""
    raise _NoNumber(name)
