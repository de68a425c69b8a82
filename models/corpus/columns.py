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
from sottovoce.models.corpus.names import AUDIO, Naming
from sottovoce.models.corpus.parquet_bounds import rows_at_once
from sottovoce.models.corpus.shapes import all_keys, shape_of

SAMPLES = {"array", "sampling_rate"}  # a struct of decoded sound, as datasets shows it
READ_ROWS = 1024
BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Group:
    """What holds for all rows of a row group. `audio` is how the column keeps it: none, path, embedded or other."""

    column: str | None  # that holds audio
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


def names_of(file: CorpusFile, stream: BinaryIO) -> tuple[str, ...]:
    """The columns of the file."""
    if file.name.endswith(SUFFIX):
        return tuple(pa.ipc.open_stream(as_source(stream)).schema.names)
    return tuple(pq.ParquetFile(stream).schema_arrow.names)


def rows_of(chunk: Chunk, stream: BinaryIO, naming: Naming) -> tuple[Group, Iterator[pa.RecordBatch]]:
    """The rows of a chunk, in order, without audio bytes."""
    if chunk.file.name.endswith(SUFFIX):
        batch = read_record_batch(as_source(stream), chunk.group)
        column = audio_column(batch.schema, naming)
        empty = column is not None and _all_null(batch.column(column))
        group = _group(batch.schema, column, nothing_embedded=empty)
        rows = _project(batch, group, wanted(batch.schema.names, group, naming))
        return group, iter([rows.slice(chunk.begin, chunk.end - chunk.begin)])
    parquet = pq.ParquetFile(stream, pre_buffer=False, buffer_size=BUFFER_BYTES)
    schema = parquet.schema_arrow
    column = audio_column(schema, naming)
    empty = _no_bytes(parquet.metadata.row_group(chunk.group), column)
    group = _group(schema, column, nothing_embedded=empty)
    columns = wanted(schema.names, group, naming)
    if group.audio_projected and column is not None:
        columns.append(f"{column}.path" if pa.types.is_struct(schema.field(column).type) else column)
    rows = rows_at_once(stream, parquet.metadata.row_group(chunk.group), columns, READ_ROWS)
    batches = parquet.iter_batches(rows, row_groups=[chunk.group], columns=columns, use_threads=False)
    return group, _between(batches, chunk.begin, chunk.end)


def wanted(names: list[str], group: Group, naming: Naming) -> list[str]:
    """Columns to read, in the file's order: those with our keys and, in a known corpus, those it is known by; never the audio."""
    keys = {*naming.sources(names).values(), *(all_keys() if shape_of(names) else ())} - {group.column}
    return [name for name in names if name in keys]


def audio_column(schema: pa.Schema, naming: Naming) -> str | None:
    """As the job says; else `audio`; else the first column of structs that hold sound as bytes or as samples."""
    if AUDIO in naming.columns:
        chosen = naming.columns[AUDIO]
        return chosen if chosen in schema.names else None
    if AUDIO in schema.names:
        return AUDIO
    for field in schema:
        parts = {field.type.field(at).name for at in range(field.type.num_fields)} if _is_struct(field) else set()
        if parts >= {"bytes", "path"} or parts >= SAMPLES:
            return field.name
    return None


def _is_struct(field: pa.Field) -> bool:
    return pa.types.is_struct(field.type)


def _between(batches: Iterator[pa.RecordBatch], begin: int, end: int) -> Iterator[pa.RecordBatch]:
    at = 0
    for batch in batches:
        first, last = max(begin - at, 0), min(end - at, len(batch))
        if first < last:
            yield batch.slice(first, last - first)
        at += len(batch)
        if at >= end:
            return


def _group(schema: pa.Schema, column: str | None, *, nothing_embedded: bool) -> Group:
    labels = _class_labels(schema.metadata or {})
    if column is None:
        return Group(None, "none", False, labels)
    kind = schema.field(column).type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Group(column, "path", True, labels)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return Group(column, "embedded", False, labels)
    fields = [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_struct(kind) else []
    names = {field.name for field in fields if not pa.types.is_null(field.type)}
    if names >= SAMPLES:
        return Group(column, "embedded", False, labels)
    if "bytes" in names and not nothing_embedded:
        return Group(column, "embedded", "path" in names, labels)
    return Group(column, "path", True, labels) if "path" in names else Group(column, "other", False, labels)


def _class_labels(metadata: dict[bytes, bytes]) -> dict[str, list[str]]:
    """Hugging Face keeps the names of a ClassLabel column, or of a list of them, in the schema and numbers in the rows."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        inner = {name: feature.get("feature", feature) for name, feature in features.items()}
        return {name: feature["names"] for name, feature in inner.items() if feature.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _no_bytes(group: Any, audio: str | None) -> bool:
    """Whether no row of a Parquet row group embeds audio, by the statistics: the column itself is not read."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == f"{audio}.bytes" and column.statistics is not None:
            return column.statistics.has_null_count and column.statistics.null_count == group.num_rows
    return False


def _all_null(audio: pa.Array) -> bool:
    if not pa.types.is_struct(audio.type) or audio.type.get_field_index("bytes") < 0:
        return False
    return audio.field("bytes").null_count == len(audio)


def _project(batch: pa.RecordBatch, group: Group, names: list[str]) -> pa.RecordBatch:
    columns = [batch.column(name) for name in names]
    if group.audio_projected and group.column is not None:
        audio = batch.column(group.column)
        if pa.types.is_struct(audio.type):
            audio = pa.StructArray.from_arrays([audio.field("path")], ["path"], mask=audio.is_null())
        names, columns = [*names, group.column], [*columns, audio]
    return pa.RecordBatch.from_arrays(columns, names)
