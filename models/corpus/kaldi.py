"""Kaldi data directories: `text`, and where present `wav.scp`, `segments`, `utt2spk`, `spk2gender`, `utt2dialogue`.

A line becomes a Row; `kaldi_join` makes utterances of them. `utt2dialogue` is ours: "utterance-id dialogue-id [turn]".
Entries of `wav.scp` that are commands are refused and never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from sottovoce.models.corpus import CHUNK_BYTES, RECORDS_PER_BATCH, Chunk, CorpusFile, OpenFile, Refused
from sottovoce.models.corpus.fields import attempt, audio_uri, identifier
from sottovoce.models.corpus.lines import Line, cut, estimate, lines_of
from sottovoce.models.corpus.reasons import AudioIsCommand, ColumnsMissing, OffsetNegative, TurnNotWhole
from sottovoce.models.settings import require

TEXT, WAVS, SEGMENTS, SPEAKERS, GENDERS, DIALOGUES = (
    "text",
    "wav.scp",
    "segments",
    "utt2spk",
    "spk2gender",
    "utt2dialogue",
)
FILES = (TEXT, WAVS, SEGMENTS, SPEAKERS, GENDERS, DIALOGUES)

_columns = re.compile("[ \t]+").split


@dataclass(frozen=True, slots=True, repr=False)
class TableRow:
    """One line of one table, under the id that the next join goes by. `refusal` is the reason code it will end in."""

    table: str
    key: str
    values: tuple[Any, ...]
    line: int
    refusal: str | None = None

    def __repr__(self) -> str:
        return f"<Row: {self.table}, line {self.line}>"

    def __reduce__(self) -> tuple[Any, ...]:  # a slotted dataclass pickles slowly by itself, and rows cross shuffles
        return TableRow, (self.table, self.key, self.values, self.line, self.refusal)


@dataclass(frozen=True)
class Kaldi:
    """Reads the tables of a Kaldi directory as rows by utterance; `transforms/read/read_kaldi.py` joins them."""

    patterns: ClassVar[tuple[str, ...]] = FILES
    records_per_batch: int = RECORDS_PER_BATCH

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        return cut(file, open_file, CHUNK_BYTES)  # by size alone: batches are made by the join

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[TableRow | Refused]:
        for line in lines_of(chunk, open_file):
            if not line.blank:
                yield attempt(chunk.file, line.number, _row, chunk.file, line)

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        return estimate(file, open_file)


def _row(file: CorpusFile, line: Line) -> TableRow:
    """Rows of `segments` go by recording and those of `utt2spk` by speaker, where the next join needs it."""
    table = file.name
    key, *rest = _columns(line.text().strip(" \t"), maxsplit=1)
    identifier(key)
    value = rest[0] if rest else ""
    if table == TEXT:
        return TableRow(table, key, (value,), line.number)
    if not value:
        raise ColumnsMissing
    if table == WAVS:
        if value.endswith("|"):
            return TableRow(table, key, (), line.number, AudioIsCommand.code)
        return TableRow(table, key, (audio_uri(value, file),), line.number)
    columns = _columns(value)
    if table == SEGMENTS:
        return _segment(key, columns, line.number)
    if table == SPEAKERS:
        return TableRow(table, columns[0], (key,), line.number)
    if table == DIALOGUES:
        return _dialogue(key, columns, line.number)
    return TableRow(table, key, (columns[0],), line.number)


def _segment(utterance_id: str, columns: list[str], line: int) -> TableRow:
    if len(columns) < 3:
        raise ColumnsMissing
    recording, *times = columns[:3]
    try:
        begin_s, end_s = map(float, times)
    except ValueError:
        begin_s, end_s = -1.0, -1.0
    to_the_end = end_s == -1  # Kaldi's way to say so
    if not 0 <= begin_s < (float("inf") if to_the_end else end_s) or end_s == float("inf"):
        return TableRow(SEGMENTS, recording, (utterance_id, 0.0, None), line, OffsetNegative.code)
    return TableRow(SEGMENTS, recording, (utterance_id, begin_s, None if to_the_end else end_s), line)


def _dialogue(utterance_id: str, columns: list[str], line: int) -> TableRow:
    turn = None
    if len(columns) > 1:
        if not re.fullmatch("[0-9]{1,10}", columns[1]):
            raise TurnNotWhole
        turn = int(columns[1])
    return TableRow(DIALOGUES, utterance_id, (columns[0], turn), line)
