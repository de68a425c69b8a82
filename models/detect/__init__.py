"""Find what is sensitive in a text. A detector only finds; it never rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sottovoce.models.records import LedgerEntry, Span

TABLE = {
    "default": "sottovoce.models.detect.ensemble:Ensemble",
    "ensemble": "sottovoce.models.detect.ensemble:Ensemble",
    "rules": "sottovoce.models.detect.rules:Rules",
    "tagger": "sottovoce.models.detect.tagger:Tagger",
    "gazetteer": "sottovoce.models.detect.gazetteer:Gazetteer",
    "flair": "sottovoce.models.detect.flair_tagger:Flair",
    "hf": "sottovoce.models.detect.hf:HuggingFace",
}


class Detector(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        """Spans of each text: sorted, not overlapping, inside the text."""

    def ledger(self) -> LedgerEntry: ...
