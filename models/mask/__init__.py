"""Remove stretches of speech, so that what was said there cannot be recovered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sottovoce.models.audio import Speech
from sottovoce.models.records import LedgerEntry

TABLE = {
    "silence": "sottovoce.models.mask.fill:Silence",
    "tone": "sottovoce.models.mask.fill:Tone",
    "noise": "sottovoce.models.mask.fill:Noise",
}


class Masker(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def mask(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> Speech:
        """Speech of the same length; its stretches [begin_s, end_s) and their guard bands hold nothing of the original."""

    def ledger(self) -> LedgerEntry: ...
