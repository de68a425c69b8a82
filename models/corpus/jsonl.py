"""JSONL manifests: one JSON object on each line, with NeMo's keys and ours (docs/input.md). Other keys are ignored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from sottovoce.models.corpus import RECORDS_PER_BATCH, Chunk, CorpusFile, OpenFile, Refused
from sottovoce.models.corpus.fields import attempt, utterance
from sottovoce.models.corpus.lines import Line, cut, estimate, lines_of
from sottovoce.models.corpus.reasons import NotJsonObject
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require


@dataclass(frozen=True)
class Jsonl:
    patterns: ClassVar[tuple[str, ...]] = ("*.jsonl", "*.ndjson", "*manifest*.json")
    records_per_batch: int = RECORDS_PER_BATCH

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        return cut(file, open_file, self.records_per_batch)

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        for line in lines_of(chunk, open_file):
            if not line.blank:
                yield attempt(chunk.file, line.number, _utterance, chunk.file, line)

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        return estimate(file, open_file)


def _utterance(file: CorpusFile, line: Line) -> Utterance:
    return utterance(_fields(line.text()), file, line.number)


def _fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise NotJsonObject from None
    if not isinstance(fields, dict):
        raise NotJsonObject
    return fields
