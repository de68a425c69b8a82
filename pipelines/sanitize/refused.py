"""The tables of refused records, in a few words: how many, at which stage, why, and what would have been accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.corpus.reasons import FileUnreadable


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """How many records one stage refused for one reason, and what it would have allowed."""

    stage: str
    reason: str
    allowed: str
    count: int


def failure_summaries(uris: Iterable[str]) -> tuple[FailureSummary, ...]:
    """Of the tables of refused records."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in _rows(uris, "stage", "reason", "allowed"):
        counts[row["stage"], row["reason"], row["allowed"]] += 1
    return tuple(FailureSummary(*key, count) for key, count in sorted(counts.items()))


def told_of(uris: Iterable[str]) -> list[str]:
    """For whoever ran it, who may know the names of files; a file that broke off is one refusal, and may be most of a corpus."""
    tables = list(uris)
    lines = [
        f"{one.count:>7} x {one.reason} (stage {one.stage}; accepted: {one.allowed})"
        for one in failure_summaries(tables)
    ]
    for row in _rows(tables, "reason", "file", "line"):
        if row["reason"] == FileUnreadable.code:
            after = f"after line (or record) {row['line'] - 1}" if row["line"] > 1 else "at its beginning"
            lines.append(f"{row['file']} is damaged or breaks off {after}: WHAT FOLLOWS THERE IS MISSING from this run")
    return lines


def _rows(uris: Iterable[str], *columns: str) -> Iterator[dict[str, Any]]:
    for uri in uris:
        with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            for group in pq.ParquetFile(file).iter_batches(columns=list(columns)):
                yield from group.to_pylist()
