"""The columns a corpus is read from, out of Parquet and Arrow stream files: never the audio bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.models.corpus import Chunk, CorpusFile
from sottovoce.models.corpus.arrow_stream import SUFFIX, as_source, read_record_batch, record_batches
from sottovoce.models.corpus.fields import KEYS
from sottovoce.models.corpus.parquet_bounds import rows_at_once

AUDIO = "audio"
READ_ROWS = 1024
BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Group:
    """What holds for all rows of a row group. `audio` is how the column keeps it: none, path, embedded or other."""

    audio: str
    audio_projected: bool
    class_labels: dict[str, list[str]]


def groups_of(file: CorpusFile, stream: BinaryIO) -> Iterator[tuple[int, int]]:
    """(position, rows) of each row group of a Parquet file or record batch of an Arrow file."""
    if file.name.endswith(SUFFIX):
        yield from record_batches(as_source(stream))
        return
    metadata = pq.ParquetFile(stream).metadata
    for index in range(metadata.num_row_groups):
        yield index, metadata.row_group(index).num_rows


def rows_of(chunk: Chunk, stream: BinaryIO) -> tuple[Group, Iterator[pa.RecordBatch]]:
    """The rows of a chunk, in order, without audio bytes."""
    if chunk.file.name.endswith(SUFFIX):
        batch = read_record_batch(as_source(stream), chunk.group)
        empty = AUDIO in batch.schema.names and _all_null(batch.column(AUDIO))
        group = _group(batch.schema, nothing_embedded=empty)
        return group, iter([_project(batch, group).slice(chunk.begin, chunk.end - chunk.begin)])
    parquet = pq.ParquetFile(stream, pre_buffer=False, buffer_size=BUFFER_BYTES)
    empty = _no_bytes(parquet.metadata.row_group(chunk.group))
    group = _group(parquet.schema_arrow, nothing_embedded=empty)
    columns = _wanted(parquet.schema_arrow)
    if group.audio_projected:
        columns.append("audio.path" if pa.types.is_struct(parquet.schema_arrow.field(AUDIO).type) else AUDIO)
    rows = rows_at_once(stream, parquet.metadata.row_group(chunk.group), columns, READ_ROWS)
    batches = parquet.iter_batches(rows, row_groups=[chunk.group], columns=columns, use_threads=False)
    return group, _between(batches, chunk.begin, chunk.end)


def _wanted(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name in KEYS]


def _between(batches: Iterator[pa.RecordBatch], begin: int, end: int) -> Iterator[pa.RecordBatch]:
    at = 0
    for batch in batches:
        first, last = max(begin - at, 0), min(end - at, len(batch))
        if first < last:
            yield batch.slice(first, last - first)
        at += len(batch)
        if at >= end:
            return


def _group(schema: pa.Schema, *, nothing_embedded: bool) -> Group:
    labels = _class_labels(schema.metadata or {})
    if AUDIO not in schema.names:
        return Group("none", False, labels)
    kind = schema.field(AUDIO).type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Group("path", True, labels)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return Group("embedded", False, labels)
    fields = [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_struct(kind) else []
    names = {field.name for field in fields if not pa.types.is_null(field.type)}
    if "bytes" in names and not nothing_embedded:
        return Group("embedded", "path" in names, labels)
    return Group("path", True, labels) if "path" in names else Group("other", False, labels)


def _class_labels(metadata: dict[bytes, bytes]) -> dict[str, list[str]]:
    """Hugging Face keeps the names of a ClassLabel column in the schema and numbers in the rows."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return {name: feature["names"] for name, feature in features.items() if feature.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _no_bytes(group: Any) -> bool:
    """Whether no row of a Parquet row group embeds audio, by the statistics: the column itself is not read."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == "audio.bytes" and column.statistics is not None:
            return column.statistics.has_null_count and column.statistics.null_count == group.num_rows
    return False


def _all_null(audio: pa.Array) -> bool:
    if not pa.types.is_struct(audio.type) or audio.type.get_field_index("bytes") < 0:
        return False
    return audio.field("bytes").null_count == len(audio)


def _project(batch: pa.RecordBatch, group: Group) -> pa.RecordBatch:
    names = _wanted(batch.schema)
    columns = [batch.column(name) for name in names]
    if group.audio_projected:
        audio = batch.column(AUDIO)
        if pa.types.is_struct(audio.type):
            audio = pa.StructArray.from_arrays([audio.field("path")], ["path"], mask=audio.is_null())
        names, columns = [*names, AUDIO], [*columns, audio]
    return pa.RecordBatch.from_arrays(columns, names)
