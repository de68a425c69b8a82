"""Find what is sensitive in a text. A detector only finds; it never rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sottovoce.models.records import LedgerEntry, Span

TABLE = {
    "rules": "sottovoce.models.detect.rules:Rules",
}


class Detector(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        """Spans of each text: sorted, not overlapping, inside the text."""

    def ledger(self) -> LedgerEntry: ...
