"""Parquet files and Hugging Face dataset directories (Parquet, or the Arrow files of `save_to_disk`).

Columns are named like the keys of a manifest; audio is a column `audio` of structs {bytes, path}, or of paths. Embedded
audio is carried as (file, row) and its bytes are not read here: only the other columns are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from sottovoce.models.corpus import RECORDS_PER_BATCH, Chunk, CorpusFile, OpenFile, Refused
from sottovoce.models.corpus.columns import AUDIO, Group, groups_of, rows_of
from sottovoce.models.corpus.fields import attempt, audio_reference, audio_uri, utterance
from sottovoce.models.corpus.parquet_bounds import TooLarge
from sottovoce.models.corpus.reasons import (
    AudioPathMalformed,
    FileUnreadable,
    NotUtf8,
    RowGroupTooLarge,
    SlotsMalformed,
)
from sottovoce.models.records import AudioRef, Source, Utterance
from sottovoce.models.settings import require

# A row group can only be read from its first row on, so each further piece of it costs reading it once more.
MAX_PIECES = 16


@dataclass(frozen=True)
class Parquet:
    patterns: ClassVar[tuple[str, ...]] = ("*.parquet", "*.pq", "*.arrow")
    records_per_batch: int = RECORDS_PER_BATCH

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk | Refused]:
        first = 1
        with open_file(file.uri) as stream:
            try:
                for position, rows in groups_of(file, stream):
                    piece = math.ceil(rows / min(MAX_PIECES, math.ceil(rows / self.records_per_batch))) if rows else 1
                    for begin in range(0, rows, piece):
                        yield Chunk(file, begin, min(begin + piece, rows), first + begin, position)
                    first += rows
            except (pa.ArrowException, OSError):
                yield _unreadable(file, first)

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        number = chunk.first
        with open_file(chunk.file.uri) as stream:
            try:
                group, batches = rows_of(chunk, stream)
                for batch in batches:
                    for row in _values(batch):
                        yield attempt(chunk.file, number, _utterance, row, group, chunk.file, number)
                        number += 1
            except (pa.ArrowException, OSError):
                yield _unreadable(chunk.file, number)
            except TooLarge:
                yield Refused(Source(chunk.file.label, number), RowGroupTooLarge(), chunk.file.place(number))

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        with open_file(file.uri) as stream:
            try:
                return sum(rows for _, rows in groups_of(file, stream))
            except (pa.ArrowException, OSError):
                return 0


def _unreadable(file: CorpusFile, row: int) -> Refused:
    return Refused(Source(file.label, row), FileUnreadable(), file.place(row))


def _values(batch: pa.RecordBatch) -> list[dict[str, Any] | None]:
    """The rows as mappings; None for one that is not UTF-8 or points outside its column, which Arrow finds out only here.

    Arrow trusts the offsets of a file: without the check a text could be whatever lies beside it in memory.
    """
    try:
        batch.validate(full=True)
        return batch.to_pylist()
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return [None] if len(batch) == 1 else [row for i in range(len(batch)) for row in _values(batch.slice(i, 1))]


def _utterance(row: dict[str, Any] | None, group: Group, file: CorpusFile, number: int) -> Utterance:
    if row is None:
        raise NotUtf8
    for name, labels in group.class_labels.items():
        value = row.get(name)
        if isinstance(value, int):  # Hugging Face writes -1 for "none"
            row[name] = labels[value] if 0 <= value < len(labels) else None
    row["slots"] = _slot_list(row.get("slots"))
    return utterance(row, file, number, _audio(row, group, file, number))


def _audio(row: dict[str, Any], group: Group, file: CorpusFile, number: int) -> AudioRef | None:
    if group.audio == "none":
        return None
    value = row.get(AUDIO)
    if group.audio == "other":
        raise AudioPathMalformed
    if group.audio == "embedded" and not (group.audio_projected and value is None):
        return audio_reference(file.uri, row, row=number - 1, column=AUDIO)
    path = value.get("path") if isinstance(value, dict) else value
    if path is None:
        return None
    return audio_reference(audio_uri(path, file.folder), row)


def _slot_list(value: Any) -> Any:
    """Hugging Face may store a list of structs as a struct of lists."""
    if not isinstance(value, dict):
        return value
    columns = [value.get(key) for key in ("begin", "end", "name")]
    if not all(isinstance(column, list) and len(column) == len(columns[0] or ()) for column in columns):
        raise SlotsMalformed
    return [dict(zip(("begin", "end", "name"), items, strict=True)) for items in zip(*columns, strict=True)]
