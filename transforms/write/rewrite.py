"""Write tables anew without some of their rows: the same order, the same row groups, and so the same bytes as if the rows
had never been there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.records import Source
from sottovoce.transforms.write.rows import AUDIO, Row, schema_of
from sottovoce.transforms.write.shards import write_parquet

Columns = dict[str, Any]
Keep = Callable[[Columns], Columns | None]  # a record, changed or not; None takes it out


def rewrite_shard(source: str, target: str, record_type: type, keep: Keep) -> dict[str, Any]:
    """One row group at a time; tells rows, bytes and sha256. The mode is that of a file that may be handed on: a private one
    lies in a folder that nobody else can enter."""
    schema = schema_of(record_type)
    with FileSystems.open(source, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return write_parquet(target, _kept(pq.ParquetFile(file), schema, keep), schema, private=False)


def _kept(parquet: pq.ParquetFile, schema: pa.Schema, keep: Keep) -> Iterator[Row]:
    audio = [field.name for field in schema if field.type == AUDIO]
    for group in range(parquet.num_row_groups):
        for columns in parquet.read_row_group(group, use_threads=False).to_pylist():
            left = keep(columns)
            if left is not None:
                sound = {name: left[name]["bytes"] for name in audio}
                yield Row(columns["id"], Source("", 0), left | sound, ())


def read_table(uri: str) -> pa.Table:
    """A small table, whole."""
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return pq.read_table(file)
