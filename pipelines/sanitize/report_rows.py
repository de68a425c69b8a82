"""What the report tells whoever trains on a run: how long its rows are and how they are labelled, of the released rows alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

MOST_LABELS = 15


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that another part of the project adds to the report: a table, and what to make of it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def sections_of_rows(record: Mapping[str, Any], path_of: Callable[[str], str]) -> tuple[Section, ...]:
    """For whoever trains on it: how long the rows are and what they are labelled, read from the released rows themselves."""
    rows, labels = [], Counter[tuple[str, str]]()
    for sink in record["counts"]["rows"]:
        paths = [path_of(shard["path"]) for shard in record["shards"] if shard["sink"] == sink and shard["rows"]]
        tables = [_columns(path, ("text", "duration_s", "intent")) for path in paths]
        for name, unit, lengths in (("duration_s", "s", _seconds), ("text", "words", _words)):
            parts = [lengths(table[name]) for table in tables if name in table.column_names]
            if parts:
                found = np.concatenate(parts)
                middle = (f"{value:.3g}" for value in np.percentile(found, [10, 50, 90]))
                rows.append((sink, unit, *middle, f"{found.sum():,.0f}"))
        for table in tables:
            if "intent" in table.column_names:
                labels.update((sink, str(value or "none")) for value in table["intent"].to_pylist())
    out = []
    if rows:
        out.append(Section("How long its rows are", ("data set", "in", "10 %", "middle", "90 %", "all"), tuple(rows)))
    if labels:
        most = tuple((sink, label, f"{count:,}") for (sink, label), count in labels.most_common(MOST_LABELS))
        note = "" if len(labels) <= MOST_LABELS else f"The {MOST_LABELS} most frequent of {len(labels)}."
        out.append(Section("What its rows are labelled", ("data set", "intent", "rows"), most, note))
    return tuple(out)


def _columns(path: str, wanted: tuple[str, ...]) -> Any:
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        parquet = pq.ParquetFile(file)
        return parquet.read(columns=[name for name in wanted if name in parquet.schema_arrow.names])


def _seconds(column: Any) -> np.ndarray:
    return column.to_numpy()


def _words(column: Any) -> np.ndarray:
    return pc.list_value_length(pc.utf8_split_whitespace(column)).to_numpy()
