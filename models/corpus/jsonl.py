"""JSONL manifests: one JSON object on each line, with NeMo's keys and ours (docs/input.md). Other keys are ignored."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sottovoce.models.corpus import RECORDS_PER_BATCH, Chunk, CorpusFile, NamedColumns, OpenFile, Refused
from sottovoce.models.corpus.fields import attempt
from sottovoce.models.corpus.lines import Line, cut, estimate, lines_of, whole
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.reasons import NotJsonObject
from sottovoce.models.corpus.shapes import shape_of, utterances
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require

PEEK_LINES = 100


@dataclass(frozen=True)
class Jsonl(NamedColumns):
    """Reads a JSON object a line, in chunks of whole lines that workers parse alone."""

    patterns: ClassVar[tuple[str, ...]] = ("*.jsonl", "*.ndjson", "*manifest*.json")
    records_per_batch: int = RECORDS_PER_BATCH
    naming: Naming = field(default_factory=Naming)

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        return cut(file, open_file, self.records_per_batch)

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        for line in lines_of(chunk, open_file):
            if line.blank:
                continue
            row = attempt(chunk.file, line.number, _fields, line)
            if isinstance(row, Refused):
                yield row
            else:
                yield from utterances(row, chunk.file, line.number, self.naming)

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        return estimate(file, open_file)

    def column_names(self, file: CorpusFile, open_file: OpenFile) -> tuple[str, ...]:
        first = itertools.islice(lines_of(whole(file), open_file), PEEK_LINES)
        rows = [attempt(file, line.number, _fields, line) for line in first if not line.blank]
        plain = [row for row in rows if not isinstance(row, Refused) and shape_of(row) is None]
        return tuple(dict.fromkeys(key for row in plain for key in row))


def _fields(line: Line) -> dict[str, Any]:
    text = line.text()
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise NotJsonObject from None
    if not isinstance(fields, dict):
        raise NotJsonObject
    return fields
