"""Write the rows of a sink as Parquet shards, in an order that tells nothing.

Row ids are keyed hashes, so grouping by id modulo the number of shards and sorting by id shuffles the whole sink, and
gives the same files on every runner, for every number of workers and after every retry. A shard is written under
another name first and described in a note, from which the driver makes `_COMMITTED.json`.
"""

from __future__ import annotations

import hashlib
import json
import os
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
from sottovoce.models.runs.places import INDEX, KEPT_TABLES, RunPlaces
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Outputs
from sottovoce.transforms.write.index import LINES_PER_GROUP, index_of
from sottovoce.transforms.write.private_files import create_private, make_private_folder
from sottovoce.transforms.write.rows import Row, StagedBytes, keep_first, pack, schema_of, unpack

UNFINISHED = ".part"
Assemble = Callable[[list[Row]], list[Row]]

ROW_GROUP_ROWS = 1024
ROW_GROUP_BYTES = 32 << 20


class WriteShards(beam.PTransform):
    """Batches of Rows -> `<sink>/part-00000-of-00004.parquet` of the run; passes on the paths of the shards.

    `assemble` makes records of the rows of one shard, where a sink's record has several parts under one id. `index` keeps
    whose the records are, in private state.
    """

    def __init__(
        self,
        places: RunPlaces,
        sink: str,
        record_type: type,
        shards: int,
        secret: Secret,
        assemble: Assemble = list,
        index: bool = True,
    ):
        super().__init__()
        self._shards = shards
        self._write = _WriteShard(places, sink, record_type, shards, secret, assemble, index)

    def expand(self, batches: beam.PCollection) -> Outputs:
        """`passed` are the paths of the finished shards; failures are further copies of a record."""
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
        self,
        places: RunPlaces,
        sink: str,
        record_type: type,
        shards: int,
        secret: Secret,
        assemble: Assemble,
        index: bool,
    ):
        self._places, self._sink, self._shards, self._secret = places, sink, shards, secret
        self._assemble, self._index = assemble, index
        self._schema = schema_of(record_type)

    def process(self, keyed: tuple[int, Iterable[bytes]]) -> Iterator[Any]:
        begin = time.perf_counter()
        shard, packed = keyed
        rows = unpack(packed)
        kept, failures = keep_first(rows, self._secret, "write")
        whole = self._assemble(kept)
        whole.sort(key=lambda row: row.columns["id"])
        name = f"part-{shard:05d}-of-{self._shards:05d}.parquet"
        path = f"{self._places.folder_of(self._sink)}/{name}"
        described = write_parquet(path, whole, self._schema, private=self._sink in KEPT_TABLES)
        note_shard(self._places, self._sink, name, described)
        if self._index:
            self._write_index(f"{self._sink}-{name}", whole)
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

    def _write_index(self, name: str, rows: Sequence[Row]) -> None:
        path = f"{self._places.folder_of(INDEX)}/{name}"
        note_shard(self._places, INDEX, name, write_private_table(path, index_of(rows), LINES_PER_GROUP))


def note_shard(places: RunPlaces, sink: str, name: str, described: dict[str, Any]) -> None:
    """Describe a finished file for the driver, which lists it in the commit."""
    content = json.dumps(described | {"path": f"{sink}/{name}", "sink": sink}).encode()
    write_then_rename(f"{places.shard_notes}/{sink}-{name}.json", lambda file: file.write(content), private=True)


def write_private_table(path: str, table: pa.Table, rows_per_group: int | None = None) -> dict[str, Any]:
    """A small table at once; tells rows, bytes and sha256."""
    seen: dict[str, Any] = {}

    def write(file: BinaryIO) -> None:
        hashing = _Hashing(file)
        pq.write_table(table, hashing, rows_per_group, compression="zstd")
        seen.update(rows=len(table), bytes=hashing.size, sha256=hashing.hash.hexdigest())

    write_then_rename(path, write, private=True)
    return seen


def write_parquet(path: str, rows: Iterable[Row], schema: pa.Schema, private: bool) -> dict[str, Any]:
    """Write rows group by group (a shard's audio never stands in memory whole); tells rows, bytes and sha256."""
    audio = {field.name for field in schema if pa.types.is_struct(field.type)}
    seen: dict[str, Any] = {"rows": 0}

    def write(file: BinaryIO) -> None:
        hashing = _Hashing(file)
        with pq.ParquetWriter(hashing, schema, compression="zstd") as writer:
            for group in _row_groups(rows):
                columns = [_with_audio(row.columns, audio, open_staged) for row in group]
                writer.write_table(pa.Table.from_pylist(columns, schema=schema))
                seen["rows"] += len(group)
        seen.update(bytes=hashing.size, sha256=hashing.hash.hexdigest())

    with _StagedReader() as open_staged:
        write_then_rename(path, write, private)
    return seen


def _row_groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += sum(len(value) for value in row.columns.values() if isinstance(value, StagedBytes | bytes))
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

    def read(self, staged: StagedBytes | bytes) -> bytes:
        if isinstance(staged, bytes):  # of a shard that is written anew
            return staged
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


def write_then_rename(path: str, write: Any, private: bool = False) -> None:
    """Nobody ever sees half a file: it is written under another name and takes its own when complete.

    The other name is fresh each time: a worker that its cluster has given up may still write the same shard.
    """
    _make_folder(FileSystems.split(path)[0], private)
    part = f"{path}.{uuid.uuid4().hex}{UNFINISHED}"
    with (
        create_private(part)
        if private
        else FileSystems.create(part, compression_type=CompressionTypes.UNCOMPRESSED) as file
    ):
        write(file)
    FileSystems.rename([part], [path])


def write_once(path: str, content: bytes) -> bytes:
    """What the private file holds afterwards: `content`, or what somebody else has put there first.

    Beam's remote filesystems cannot create exclusively: there, of two that write at the same moment the last one wins.
    """
    if "://" in path:
        if not FileSystems.exists(path):
            write_then_rename(path, lambda file: file.write(content), private=True)
    else:
        make_private_folder(os.path.dirname(path))
        part = f"{path}.{uuid.uuid4().hex}{UNFINISHED}"
        with create_private(part) as file:
            file.write(content)
        try:
            os.link(part, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(part)
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as found:
        return found.read()


def _make_folder(path: str, private: bool) -> None:
    if private:
        make_private_folder(path)
    elif not FileSystems.exists(path):
        try:
            FileSystems.mkdirs(path)
        except OSError:
            if not FileSystems.exists(path):  # another worker may have made it in between
                raise
