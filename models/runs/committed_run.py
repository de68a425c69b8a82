"""A committed run, read back: only what `_COMMITTED.json` lists, only while it is what was committed.

`_COMMITTED.json` holds {run_id, created, counts, shards, files}. `files` lists every file of the folder but itself, path ->
{sha256, bytes}; `shards` says of some of them which sink they belong to and how many rows they have. Whoever reads a run
comes through here: an extra, missing or changed file is an error that names it. Shards are read row group by row group,
so a sink of any size needs the memory of one group; `read` gives a whole file whose bytes were hashed as they were read,
so that nothing can change between the check and the use. What a commit says is checked in its turn against a seal, its
sha256, in the private folder of the output.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, BinaryIO

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import COMMITTED, COUNTS, RUNS, SEAL, SECRET_CHECK, RunPlaces, absolute
from sottovoce.models.runs.run_files import FileEntry, LocalFiles, RunFiles, changed, check_files

_inside_the_run = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*").fullmatch


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a sink as the commit lists it: how many rows, how many bytes, and their hash."""

    path: str
    sink: str
    rows: int
    bytes: int
    sha256: str


class CommittedRun:
    """`location` is the folder of the run; `files` reads it, and `private` the private folder of its output, if any."""

    def __init__(self, location: str, files: RunFiles, private: RunFiles | None = None):
        self.location, self._files = location.rstrip("/"), files
        content = self._read_commit()
        self.digest = hashlib.sha256(content).hexdigest()  # names this very commit, and all files with it
        if private is not None:
            self._check_seal(private)
        try:
            self.record: dict[str, Any] = json.loads(content)
        except ValueError:
            raise RunError(f"{COMMITTED} is damaged: it is not JSON") from None
        try:
            self.run_id = str(self.record["run_id"])
            fields = Shard.__dataclass_fields__
            self.shards = tuple(Shard(**{name: shard[name] for name in fields}) for shard in self.record["shards"])
            self.files = {
                path: FileEntry(entry["sha256"], entry["bytes"]) for path, entry in self.record["files"].items()
            }
        except (KeyError, TypeError, AttributeError):
            raise RunError(f"{COMMITTED} is damaged: expected run_id, shards and files as the run wrote them") from None
        self._check_paths()
        if private is not None and self.record.get("crowd"):  # whoever has the private folder knows them exactly
            counts = _content(private, f"{RUNS}/{self.location.rpartition('/')[2]}/{COUNTS}")
            self.record["counts"] = json.loads(counts) if counts else self.record["counts"]

    def rows(self, sink: str) -> int:
        return sum(shard.rows for shard in self.shards if shard.sink == sink)

    def paths_of(self, sink: str) -> list[str]:
        """The shards of a sink, in the order of their names."""
        return sorted(shard.path for shard in self.shards if shard.sink == sink)

    def verify(self, sinks: Iterable[str] | None = None) -> None:
        """Raise RunError unless the folder holds exactly what was committed.

        With `sinks`, shards of other sinks must be there in their size, and are not read: for whoever needs one sink.
        """
        wanted = None if sinks is None else set(sinks)
        unread = [] if wanted is None else [shard.path for shard in self.shards if shard.sink not in wanted]
        check_files(self._files, self.files, unread)

    def read(self, path: str) -> bytes:
        """A file of the run as it was committed, whole."""
        entry = self.files.get(path)
        if entry is None:
            raise RunError(f"{self.location} has no committed {path}")
        with closing(self._open(path)) as file:
            content = file.read()
        if FileEntry(hashlib.sha256(content).hexdigest(), len(content)) != entry:
            raise changed(path)
        return content

    def groups(self, sink: str) -> Iterator[list[dict[str, Any]]]:
        """The records of a sink, one row group at a time."""
        import pyarrow.parquet as pq

        for path in (shard.path for shard in self.shards if shard.sink == sink):
            with closing(self._open(path)) as file:
                parquet = pq.ParquetFile(file)
                for number in range(parquet.num_row_groups):
                    yield parquet.read_row_group(number, use_threads=False).to_pylist()

    def _open(self, path: str) -> BinaryIO:
        try:
            return self._files.open(path)
        except OSError:
            raise RunError(f"{path} is committed but missing; run sanitize again") from None

    def _check_seal(self, private: RunFiles) -> None:
        """Whoever can change a file of the run could change its entry in the commit as well, but not the private folder.
        A copy that was handed on has none: there the commit speaks for itself."""
        if _content(private, SECRET_CHECK) is None:
            return
        seal = _content(private, f"{RUNS}/{self.location.rpartition('/')[2]}/{SEAL}")
        if seal is None or json.loads(seal)["sha256"] != self.digest:
            raise RunError(f"{self.location}/{COMMITTED} is not the one that the run wrote; run sanitize again")

    def _check_paths(self) -> None:
        if not all(_inside_the_run(path) for path in self.files):
            raise RunError(f"{COMMITTED} is damaged: a file lies outside the run; expected <sink>/<file>")
        for shard in self.shards:
            if self.files.get(shard.path) != FileEntry(shard.sha256, shard.bytes):
                raise RunError(f"{COMMITTED} is damaged: a shard is not among its files")

    def _read_commit(self) -> bytes:
        try:
            with closing(self._files.open(COMMITTED)) as file:
                return file.read()
        except OSError:
            raise RunError(
                f"{self.location} is not a committed run: it has no {COMMITTED}. Give OUT/<run id>; if the run was "
                "interrupted, the same sanitize command completes it"
            ) from None


def open_local(folder: str) -> CommittedRun:
    """A run on this machine."""
    location = absolute(folder)
    private = LocalFiles(RunPlaces.of(location).output.private())
    return CommittedRun(location, LocalFiles(location), private)


def handed_on(record: dict[str, Any]) -> dict[str, Any]:
    """What may leave of a commit. How many records a corpus has tells of a person who is in it or not what a crowd release
    hides: of its counts only those of the released rows leave, which are noisy."""
    return record | {"counts": {"rows": record["counts"]["rows"]}} if record.get("crowd") else record


def seal_of(commit: bytes) -> dict[str, str]:
    """What the private folder keeps of a commit."""
    return {"sha256": hashlib.sha256(commit).hexdigest()}


def _content(files: RunFiles, path: str) -> bytes | None:
    try:
        with closing(files.open(path)) as file:
            return file.read()
    except OSError:
        return None
