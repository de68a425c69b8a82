"""Tables as text: CSV (cells in quotes may hold line ends) and TSV (as Common Voice writes it: a quote is only a quote).

The first line names the columns. Where the job's `input.columns` gives numbers (`{text: 2}`), there is no such line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sottovoce.models.corpus import CHUNK_BYTES, RECORDS_PER_BATCH, Chunk, CorpusFile, NamedColumns, OpenFile, Refused
from sottovoce.models.corpus.fields import attempt
from sottovoce.models.corpus.lines import Line, estimate, is_compressed, lines_of, plain_name, whole
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.reasons import MAX_LINE_BYTES, CellsMalformed
from sottovoce.models.corpus.shapes import utterances
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require

DELIMITERS = ",;\t|"
NUMBERS: dict[str, Any] = {"turn": int, "offset": float, "duration": float}


@dataclass(frozen=True)
class CsvTable(NamedColumns):
    """Reads comma- or tab-separated tables whose first line names the columns; a job may map those names to ours."""

    patterns: ClassVar[tuple[str, ...]] = ("*.csv", "*.tsv")
    records_per_batch: int = RECORDS_PER_BATCH
    naming: Naming = field(default_factory=Naming)

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        if is_compressed(file):
            yield whole(file)
            return
        begin, first, records, line = 0, 1, 0, None
        for line in _records(whole(file), open_file):
            records += 1
            if records >= self.records_per_batch or line.end - begin >= CHUNK_BYTES:
                yield Chunk(file, begin, line.end, first)
                begin, first, records = line.end, line.number + _height(line), 0
        if line is not None and begin < line.end:
            yield Chunk(file, begin, line.end, first)

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        names, delimiter = self._header(chunk.file, open_file)
        named = self.naming.sources(names)
        for line in _records(chunk, open_file):
            if line.blank or (line.begin == 0 and not self._numbered):
                continue
            row = attempt(chunk.file, line.number, _row, line, names, delimiter, named)
            if isinstance(row, Refused):
                yield row
            else:
                yield from utterances(row, chunk.file, line.number, self.naming)

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        return max(0, estimate(file, open_file) - (not self._numbered))

    def column_names(self, file: CorpusFile, open_file: OpenFile) -> tuple[str, ...]:
        return () if self._numbered else tuple(self._header(file, open_file)[0])

    @property
    def _numbered(self) -> bool:
        return any(name is not None and name.isdecimal() for name in self.naming.columns.values())

    def _header(self, file: CorpusFile, open_file: OpenFile) -> tuple[list[str], str]:
        """The names of the columns, and what parts them."""
        line = next(_records(whole(file), open_file), None)
        content = "" if line is None or line.content is None else line.content.decode("utf-8", "replace")
        delimiter = "\t" if _is_tsv(file) else max(DELIMITERS, key=content.count)
        cells = _cells(content, delimiter) if content else []
        return ([str(place) for place in range(1, len(cells) + 1)] if self._numbered else cells), delimiter


def _is_tsv(file: CorpusFile) -> bool:
    return plain_name(file.name).endswith(".tsv")


def _records(chunk: Chunk, open_file: OpenFile) -> Iterator[Line]:
    """The rows with their first line's number. In CSV a row goes on while a quote is open."""
    lines = lines_of(chunk, open_file)
    if _is_tsv(chunk.file):
        yield from lines
        return
    held: Line | None = None
    for line in lines:
        if held is not None and held.content is not None and line.content is not None:
            line = Line(held.number, held.begin, line.end, held.content + b"\n" + line.content)
        open_quote = line.content is not None and line.content.count(b'"') % 2 == 1
        held = line if open_quote and len(line.content or b"") <= MAX_LINE_BYTES else None
        if held is None:
            yield line
    if held is not None:
        yield held


def _height(line: Line) -> int:
    return 1 + (line.content or b"").count(b"\n")


def _cells(text: str, delimiter: str) -> list[str]:
    source = io.StringIO(text, newline="")
    try:
        if delimiter == "\t":
            rows = list(csv.reader(source, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True))
        else:
            rows = list(csv.reader(source, delimiter=delimiter, strict=True))
    except csv.Error:
        raise CellsMalformed from None
    if len(rows) != 1:
        raise CellsMalformed
    return [cell.strip() for cell in rows[0]]


def _row(line: Line, names: list[str], delimiter: str, named: dict[str, str]) -> dict[str, Any]:
    cells = _cells(line.text(), delimiter)
    if len(cells) != len(names):
        raise CellsMalformed
    row: dict[str, Any] = {name: cell or None for name, cell in zip(names, cells, strict=True)}
    try:
        for ours, number in NUMBERS.items():
            if (theirs := named.get(ours)) and row[theirs] is not None:
                row[theirs] = number(row[theirs])
        if (theirs := named.get("slots")) and row[theirs] is not None:
            row[theirs] = json.loads(row[theirs])
    except (ValueError, RecursionError):
        raise CellsMalformed from None
    return row
