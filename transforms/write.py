"""Write the rows of a sink as Parquet shards, in an order that tells nothing.

Row ids are keyed hashes, so grouping by id modulo the number of shards and sorting by id shuffles the whole sink, and
gives the same files on every runner, for every number of workers and after every retry. A shard is written under
another name first and described in `_work/shards/`, from which the driver makes `_COMMITTED.json`.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.randomness import Secret
from sottovoce.models.tally import Tally
from sottovoce.transforms.duplicates import keep_first
from sottovoce.transforms.rows import Row, StagedBytes, pack, schema_of, unpack
from sottovoce.transforms.stage import FAILURES, PASSED, TALLY, Outputs

UNFINISHED = ".part"
Assemble = Callable[[list[Row]], list[Row]]

ROW_GROUP_ROWS = 1024
ROW_GROUP_BYTES = 32 << 20


class WriteShards(beam.PTransform):
    """Batches of Rows -> `<run>/<sink>/part-00000-of-00004.parquet`; passes on the paths of the shards.

    `assemble` makes records of the rows of one shard, where a sink's record has several parts under one id.
    """

    def __init__(
        self, run_uri: str, sink: str, record_type: type, shards: int, secret: Secret, assemble: Assemble | None = None
    ):
        super().__init__()
        self._shards = shards
        self._write = _WriteShard(run_uri, sink, record_type, shards, secret, assemble)

    def expand(self, batches: beam.PCollection) -> Outputs:
        parts = (
            batches
            | "ByShard" >> beam.FlatMap(_by_shard, self._shards)
            | "Shuffle" >> beam.GroupByKey()
            | "Write" >> beam.ParDo(self._write).with_outputs(FAILURES, TALLY, main=PASSED)
        )
        return Outputs(parts[PASSED], (parts[FAILURES],), (parts[TALLY],))


def _by_shard(rows: Sequence[Row], shards: int) -> Iterator[tuple[int, bytes]]:
    parts: dict[int, list[Row]] = {}
    for row in rows:
        parts.setdefault(int(row.columns["id"][:8], 16) % shards, []).append(row)
    for shard, own in parts.items():
        yield shard, pack(own)


class _WriteShard(beam.DoFn):
    def __init__(
        self, run_uri: str, sink: str, record_type: type, shards: int, secret: Secret, assemble: Assemble | None
    ):
        self._run_uri, self._sink, self._shards, self._secret = run_uri, sink, shards, secret
        self._assemble = assemble
        self._schema = schema_of(record_type)

    def process(self, keyed: tuple[int, Iterable[bytes]]) -> Iterator[Any]:
        begin = time.perf_counter()
        shard, packed = keyed
        rows = unpack(packed)
        kept, failures = keep_first(rows, self._secret, "write")
        whole = kept if self._assemble is None else self._assemble(kept)
        whole.sort(key=lambda row: row.columns["id"])
        name = f"part-{shard:05d}-of-{self._shards:05d}.parquet"
        path = FileSystems.join(self._run_uri, self._sink, name)
        described = write_parquet(path, whole, self._schema)
        note_shard(self._run_uri, self._sink, name, described)
        yield path
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        tally = Tally.of(
            "write",
            received=len(rows),
            passed=len(kept),
            reasons=[failure.reason for failure in failures],
            seconds=time.perf_counter() - begin,
        )
        yield beam.pvalue.TaggedOutput(TALLY, tally)


def note_shard(run_uri: str, folder: str, name: str, described: dict[str, Any]) -> None:
    """Describe a finished file for the driver, which lists it in the commit."""
    note = FileSystems.join(run_uri, "_work", "shards", f"{folder}-{name}.json")
    content = json.dumps(described | {"path": f"{folder}/{name}", "sink": folder}).encode()
    write_then_rename(note, lambda file: file.write(content))


def write_table(path: str, table: pa.Table) -> dict[str, Any]:
    """A small table at once; tells rows, bytes and sha256."""
    seen: dict[str, Any] = {}

    def write(file: BinaryIO) -> None:
        hashing = _Hashing(file)
        pq.write_table(table, hashing, compression="zstd")
        seen.update(rows=len(table), bytes=hashing.size, sha256=hashing.hash.hexdigest())

    write_then_rename(path, write)
    return seen


def write_parquet(path: str, rows: Sequence[Row], schema: pa.Schema) -> dict[str, Any]:
    """Write rows group by group (a shard's audio never stands in memory whole); tells rows, bytes and sha256."""
    audio = {field.name for field in schema if pa.types.is_struct(field.type)}
    seen: dict[str, Any] = {}

    def write(file: BinaryIO) -> None:
        hashing = _Hashing(file)
        with pq.ParquetWriter(hashing, schema, compression="zstd") as writer:
            for group in _row_groups(rows):
                columns = [_with_audio(row.columns, audio, open_staged) for row in group]
                writer.write_table(pa.Table.from_pylist(columns, schema=schema))
        seen.update(rows=len(rows), bytes=hashing.size, sha256=hashing.hash.hexdigest())

    with _StagedReader() as open_staged:
        write_then_rename(path, write)
    return seen


def _row_groups(rows: Sequence[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += sum(value.length for value in row.columns.values() if isinstance(value, StagedBytes))
        if len(group) >= ROW_GROUP_ROWS or size >= ROW_GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _with_audio(columns: dict[str, Any], audio: set[str], staged: _StagedReader) -> dict[str, Any]:
    return {
        name: {"bytes": staged.read(value), "path": f"{columns['id']}.flac"} if name in audio else value
        for name, value in columns.items()
    }


class _StagedReader:
    """Reads staged audio by reference, keeping the last few files open."""

    KEEP_OPEN = 16

    def __init__(self) -> None:
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> _StagedReader:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def read(self, staged: StagedBytes) -> bytes:
        if staged.uri not in self._files:
            if len(self._files) >= self.KEEP_OPEN:
                self._files.pop(next(iter(self._files))).close()
            self._files[staged.uri] = FileSystems.open(staged.uri, compression_type=CompressionTypes.UNCOMPRESSED)
        file = self._files[staged.uri]
        file.seek(staged.offset)
        return file.read(staged.length)


class _Hashing:
    """A file that is written and hashed in one pass."""

    def __init__(self, file: BinaryIO):
        self._file, self.hash, self.size, self.closed = file, hashlib.sha256(), 0, False

    def write(self, data: Any) -> int:
        self._file.write(bytes(data))
        self.hash.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        self._file.flush()

    def tell(self) -> int:
        return self.size

    def close(self) -> None:
        self.closed = True


def write_then_rename(path: str, write: Any) -> None:
    """Nobody ever sees half a file: it is written under another name and takes its own when complete.

    The other name is fresh each time: a worker that its cluster has given up may still write the same shard.
    """
    parent = FileSystems.split(path)[0]
    if not FileSystems.exists(parent):
        try:
            FileSystems.mkdirs(parent)
        except OSError:
            if not FileSystems.exists(parent):  # another worker may have made it in between
                raise
    part = f"{path}.{uuid.uuid4().hex}{UNFINISHED}"
    with FileSystems.create(part, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        write(file)
    FileSystems.rename([part], [path])
