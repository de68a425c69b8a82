"""Parquet files and Hugging Face dataset directories (Parquet, or the Arrow files of `save_to_disk`).

Columns are named like the keys of a manifest, or as `names.py` knows them; audio is a column of structs {bytes, path} or {array,
sampling_rate}, or of paths. Embedded audio is carried as (file, row) and not read here: only the other columns are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from sottovoce.models.corpus import RECORDS_PER_BATCH, Chunk, CorpusFile, NamedColumns, OpenFile, Refused
from sottovoce.models.corpus.columns import Group, groups_of, names_of, rows_of
from sottovoce.models.corpus.fields import attempt, audio_reference, audio_uri
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.parquet_bounds import TooLarge
from sottovoce.models.corpus.reasons import (
    AudioPathMalformed,
    FileUnreadable,
    NotUtf8,
    RowGroupTooLarge,
    SlotsMalformed,
)
from sottovoce.models.corpus.shapes import shape_of, utterances
from sottovoce.models.records import AudioRef, Source, Utterance
from sottovoce.models.settings import require

# A row group can only be read from its first row on, so each further piece of it costs reading it once more.
MAX_PIECES = 16


@dataclass(frozen=True)
class Parquet(NamedColumns):
    """Reads Parquet by row group and Arrow by batch; sound within the table is read where it is needed, not here."""

    patterns: ClassVar[tuple[str, ...]] = ("*.parquet", "*.pq", "*.arrow")
    records_per_batch: int = RECORDS_PER_BATCH
    naming: Naming = field(default_factory=Naming)

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
                group, batches = rows_of(chunk, stream, self.naming)
                for batch in batches:
                    for row in _values(batch):
                        yield from self._utterances(row, group, chunk.file, number)
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

    def column_names(self, file: CorpusFile, open_file: OpenFile) -> tuple[str, ...]:
        with open_file(file.uri) as stream:
            try:
                names = names_of(file, stream)
            except (pa.ArrowException, OSError):
                return ()
        return () if shape_of(names) else names

    def _utterances(
        self, row: dict[str, Any] | None, group: Group, file: CorpusFile, number: int
    ) -> Iterator[Utterance | Refused]:
        ready = attempt(file, number, self._ready, row, group, file, number)
        if isinstance(ready, Refused):
            yield ready
        else:
            yield from utterances(ready[0], file, number, self.naming, audio=ready[1])

    def _ready(
        self, row: dict[str, Any] | None, group: Group, file: CorpusFile, number: int
    ) -> tuple[dict[str, Any], AudioRef | None]:
        """The row with names in place of numbers, and its audio."""
        if row is None:
            raise NotUtf8
        for name, labels in group.class_labels.items():
            if name in row:
                row[name] = _named(row[name], labels)
        if (slots := self.naming.sources(row).get("slots")) is not None:
            row[slots] = _slot_list(row[slots])
        value = row.pop(group.column, None) if group.column is not None else None
        return row, _audio(value, self.naming.fields(row), group, file, number)


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


def _named(value: Any, labels: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(item, labels) for item in value]
    if isinstance(value, int):  # Hugging Face writes -1 for "none"
        return labels[value] if 0 <= value < len(labels) else None
    return value


def _audio(value: Any, fields: dict[str, Any], group: Group, file: CorpusFile, number: int) -> AudioRef | None:
    if group.audio == "none":
        return None
    if group.audio == "other":
        raise AudioPathMalformed
    if group.audio == "embedded" and not (group.audio_projected and value is None):
        return audio_reference(file.uri, fields, row=number - 1, column=group.column)
    path = value.get("path") if isinstance(value, dict) else value
    if path is None:
        return None
    return audio_reference(audio_uri(path, file), fields)


def _slot_list(value: Any) -> Any:
    """Hugging Face may store a list of structs as a struct of lists."""
    if not isinstance(value, dict):
        return value
    columns = [value.get(key) for key in ("begin", "end", "name")]
    if not all(isinstance(column, list) and len(column) == len(columns[0] or ()) for column in columns):
        raise SlotsMalformed
    return [dict(zip(("begin", "end", "name"), items, strict=True)) for items in zip(*columns, strict=True)]
