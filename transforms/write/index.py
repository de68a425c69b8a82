"""The keyed index: which records are whose, one small table beside each shard, in private state only.

The writer of a shard has its rows in hand, so nothing crosses a shuffle for it. A line stands for one part of a record
(`models/forget/whose.py`); lines are sorted by speaker and kept in small groups, so that looking for a few people reads the
groups that can hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.forget.whose import Forgotten, Part
from sottovoce.transforms.write.rows import Row

SCHEMA = pa.schema(
    [
        ("speaker", pa.string()),
        ("dialogue", pa.string()),
        ("id", pa.string()),  # of the record
        ("place", pa.int32()),  # of the part in the record
        ("language", pa.string()),
        ("first", pa.bool_()),
        ("audio_s", pa.float64()),
        ("sink", pa.string()),
    ]
)
LINES_PER_GROUP = 4096


def index_of(rows: Sequence[Row]) -> pa.Table:
    """A line for each part of each row; those that belong to nobody have none."""
    lines = [
        {**part._asdict(), "id": row.columns["id"], "place": place}
        for row in rows
        for place, part in enumerate(row.parts)
        if part.speaker or part.dialogue  # a line that could not be read says nothing of its owner
    ]
    return sorted_index(pa.Table.from_pylist(lines, schema=SCHEMA))


def sorted_index(lines: pa.Table) -> pa.Table:
    """By speaker, record, place: whoever looks for a few people can skip most groups of lines."""
    return lines.sort_by([("speaker", "ascending"), ("id", "ascending"), ("place", "ascending")]).combine_chunks()


def has_any(uri: str, forgotten: Forgotten) -> bool:
    """Whether the table has a line of one of them."""
    wanted = {"speaker": sorted(forgotten.speakers), "dialogue": sorted(forgotten.dialogues)}
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        parquet = pq.ParquetFile(file)
        return any(_group_has(parquet, group, column, tokens) for group, column, tokens in _looks(parquet, wanted))


def _looks(parquet: pq.ParquetFile, wanted: dict[str, list[str]]) -> Iterator[tuple[int, str, list[str]]]:
    for group in range(parquet.num_row_groups):
        for column, tokens in wanted.items():
            if tokens:
                yield group, column, tokens


def _group_has(parquet: pq.ParquetFile, group: int, column: str, tokens: list[str]) -> bool:
    statistics = parquet.metadata.row_group(group).column(SCHEMA.get_field_index(column)).statistics
    if statistics is not None and statistics.has_min_max:
        tokens = [token for token in tokens if statistics.min <= token <= statistics.max]
    if not tokens:
        return False
    values = parquet.read_row_group(group, columns=[column])[column]
    return pc.any(pc.is_in(values, value_set=pa.array(tokens))).as_py() or False


def is_of(lines: pa.Table, forgotten: Forgotten) -> pa.ChunkedArray:
    """For each line whether it is one of theirs."""
    speaker = pc.is_in(lines["speaker"], value_set=pa.array(sorted(forgotten.speakers), pa.string()))
    return pc.or_(speaker, pc.is_in(lines["dialogue"], value_set=pa.array(sorted(forgotten.dialogues), pa.string())))


def part_of_line(line: dict[str, Any]) -> Part:
    """The part that a line was made of, without its turn, which is not kept."""
    return Part(**{name: line[name] for name in Part._fields if name in line})
