"""JSON documents: an array of records or dialogues, or a mapping from names to them. One element is held at a time.

SNIPS, MultiWOZ and Schema-Guided Dialogue come so. A document is one piece, since only reading it tells where elements begin.
"""

from __future__ import annotations

import codecs
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar

from sottovoce.models.corpus import RECORDS_PER_BATCH, Chunk, CorpusFile, NamedColumns, OpenFile, Refused
from sottovoce.models.corpus.lines import FAULTS, SAMPLE_BYTES, reading, sample_of, whole
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.reasons import FileUnreadable, NotJsonObject
from sottovoce.models.corpus.shapes import shape_of, utterances
from sottovoce.models.records import Source, Utterance
from sottovoce.models.settings import require

BLOCK_CHARACTERS = 1 << 18
MAX_ELEMENT_CHARACTERS = 1 << 26
PEEK_ELEMENTS = 20
_SPACE = " \t\n\r"


@dataclass(frozen=True)
class JsonDocument(NamedColumns):
    """Reads one large JSON value element by element, so that a file of any size fits in memory."""

    patterns: ClassVar[tuple[str, ...]] = ("dialogues*.json", "data.json", "train_*.json", "validate_*.json")
    records_per_batch: int = RECORDS_PER_BATCH
    naming: Naming = field(default_factory=Naming)

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        yield whole(file)

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        number = 0
        try:
            for name, row in _rows(chunk.file, open_file):
                number += 1
                if isinstance(row, Mapping):
                    yield from utterances(row, chunk.file, number, self.naming, name)
                else:
                    yield _refused(chunk.file, number, NotJsonObject())
        except (ValueError, RecursionError, *FAULTS):
            yield _refused(chunk.file, number + 1, FileUnreadable())

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        sample, share = sample_of(file, open_file, SAMPLE_BYTES)
        return round(max(map(sample.count, (b'"utterance"', b'"text"', b'"data"', b'"sentence"'))) / share)

    def column_names(self, file: CorpusFile, open_file: OpenFile) -> tuple[str, ...]:
        try:
            rows = [row for _, row in itertools.islice(_rows(file, open_file), PEEK_ELEMENTS)]
        except (ValueError, RecursionError, *FAULTS):
            return ()
        plain = [row for row in rows if isinstance(row, Mapping) and shape_of(row) is None]
        return tuple(dict.fromkeys(key for row in plain for key in row))


def _refused(file: CorpusFile, number: int, error: Exception) -> Refused:
    return Refused(Source(file.label, number), error, file.place(number))


def _rows(file: CorpusFile, open_file: OpenFile) -> Iterator[tuple[str | None, Any]]:
    """(name, row); the members of a list that stands under a name have that name each."""
    with reading(file, open_file) as stream:
        for name, value in elements(stream):
            if name is not None and isinstance(value, list):
                yield from ((name, item) for item in value)
            else:
                yield name, value


def elements(stream: BinaryIO) -> Iterator[tuple[str | None, Any]]:
    """(name, value) of a mapping's members, (None, value) of an array's; ValueError where it is neither or breaks off."""
    source = _Source(stream)
    opening = source.next_character()
    if opening not in "[{" or not opening:
        raise ValueError("neither an array nor a mapping")
    while True:
        following = source.next_character()
        if following and following in "]}":
            return
        source.back()
        name = source.value() if opening == "{" else None
        if opening == "{" and (not isinstance(name, str) or source.next_character() != ":"):
            raise ValueError("no name")
        yield name, source.value()
        if source.next_character() not in (",", "]", "}"):
            raise ValueError("no comma")
        if source.text[source.at - 1] != ",":
            return


class _Source:
    """Text that grows as it is asked for, and forgets what was read."""

    def __init__(self, stream: BinaryIO):
        self._stream, self._decode = stream, codecs.getincrementaldecoder("utf-8-sig")()
        self._json, self._ended = json.JSONDecoder(), False
        self.text, self.at = "", 0

    def _grow(self, by: int) -> bool:
        block = b"" if self._ended else self._stream.read(by)
        self._ended = not block
        self.text, self.at = self.text[self.at :] + self._decode.decode(block, self._ended), 0
        return bool(block)

    def next_character(self) -> str:
        """The next one that is no space; nothing at the end."""
        while True:
            while self.at < len(self.text):
                self.at += 1
                if self.text[self.at - 1] not in _SPACE:
                    return self.text[self.at - 1]
            if not self._grow(BLOCK_CHARACTERS):
                return ""

    def back(self) -> None:
        self.at = max(0, self.at - 1)

    def value(self) -> Any:
        if not self.next_character():
            raise ValueError("breaks off")
        self.back()
        by = BLOCK_CHARACTERS
        while True:
            try:
                value, end = self._json.raw_decode(self.text, self.at)
                if end < len(self.text) or self._ended:  # a number at the very end may go on
                    self.at = end
                    return value
            except json.JSONDecodeError:
                if self._ended:
                    raise
            if len(self.text) - self.at > MAX_ELEMENT_CHARACTERS:
                raise ValueError("too large")
            self._grow(by)
            by *= 2
