"""A committed run, read back: only what `_COMMITTED.json` lists, only while it is what was committed.

Shards are read row group by row group, so a sink of any size needs the memory of one group.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, BinaryIO

from sottovoce.models.errors import RunError

COMMITTED = "_COMMITTED.json"
READ_BYTES = 1 << 20

_inside_the_run = re.compile(r"[A-Za-z0-9_]+/[A-Za-z0-9_][A-Za-z0-9_.-]*").fullmatch


@dataclass(frozen=True, slots=True)
class Shard:
    path: str
    sink: str
    rows: int
    bytes: int
    sha256: str


class CommittedRun:
    """`location` is the folder of the run; `open_file` reads from wherever it lies."""

    def __init__(self, location: str, open_file: Callable[[str], BinaryIO]):
        self._location, self._open_file = location.rstrip("/"), open_file
        record = self._read_record()
        try:
            self.run_id = str(record["run_id"])
            fields = Shard.__dataclass_fields__
            self.shards = tuple(Shard(**{name: shard[name] for name in fields}) for shard in record["shards"])
        except (KeyError, TypeError):
            raise RunError(f"{COMMITTED} is damaged: expected run_id and shards as the run wrote them") from None
        for shard in self.shards:
            if not _inside_the_run(shard.path):
                raise RunError(f"{COMMITTED} is damaged: a shard lies outside the run; expected <sink>/<file>")

    def rows(self, sink: str) -> int:
        return sum(shard.rows for shard in self.shards if shard.sink == sink)

    def verify(self, sinks: Iterable[str]) -> None:
        """Raise RunError unless every shard of these sinks is, byte for byte, the one that was committed."""
        for shard in self._shards_of(*sinks):
            digest, size = hashlib.sha256(), 0
            with closing(self._open(shard)) as file:
                while block := file.read(READ_BYTES):
                    digest.update(block)
                    size += len(block)
            if (size, digest.hexdigest()) != (shard.bytes, shard.sha256):
                raise RunError(f"{shard.path} is not the file that was committed (sha256 differs); run sanitize again")

    def groups(self, sink: str) -> Iterator[list[dict[str, Any]]]:
        """The records of a sink, one row group at a time."""
        import pyarrow.parquet as pq

        for shard in self._shards_of(sink):
            with closing(self._open(shard)) as file:
                parquet = pq.ParquetFile(file)
                for number in range(parquet.num_row_groups):
                    yield parquet.read_row_group(number, use_threads=False).to_pylist()

    def _shards_of(self, *sinks: str) -> list[Shard]:
        return [shard for shard in self.shards if shard.sink in sinks]

    def _open(self, shard: Shard) -> BinaryIO:
        try:
            return self._open_file(f"{self._location}/{shard.path}")
        except OSError:
            raise RunError(f"{shard.path} is committed but missing; run sanitize again") from None

    def _read_record(self) -> Any:
        try:
            with closing(self._open_file(f"{self._location}/{COMMITTED}")) as file:
                content = file.read()
        except OSError:
            raise RunError(
                f"{self._location} is not a committed run: it has no {COMMITTED}. Give OUT/<run id>; if the run was "
                "interrupted, the same sanitize command completes it"
            ) from None
        try:
            return json.loads(content)
        except ValueError:
            raise RunError(f"{COMMITTED} is damaged: it is not JSON") from None
