"""Remove stretches of speech, so that what was said there cannot be recovered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.speech.audio import Speech

TABLE = {
    "silence": "sottovoce.models.speech.mask.fill:Silence",
    "tone": "sottovoce.models.speech.mask.fill:Tone",
    "noise": "sottovoce.models.speech.mask.fill:Noise",
}


class Masker(Protocol):
    @property
    def guard_ms(self) -> float:
        """What is overwritten on either side of a stretch."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def mask(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> Speech:
        """Speech of the same length; its stretches [begin_s, end_s) and their guard bands hold nothing of the original."""

    def intervals(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
        """The samples [begin, end) that `mask` overwrites, guard bands included: for measuring."""

    def ledger(self) -> LedgerEntry: ...
