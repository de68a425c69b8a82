"""Remove stretches of speech, so that what was said there cannot be recovered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Edit
from sottovoce.models.speech.audio import Speech

if TYPE_CHECKING:
    from sottovoce.models.speech.spoken import Spoken

TABLE = {
    "silence": "sottovoce.models.speech.mask.fill:Silence",
    "tone": "sottovoce.models.speech.mask.fill:Tone",
    "noise": "sottovoce.models.speech.mask.fill:Noise",
    "surrogate": "sottovoce.models.speech.mask.surrogate:Surrogate",
}
LANGUAGES = {"surrogate": ("en",)}  # the others say nothing


class Masker(Protocol):
    """Overwrites stretches of speech."""

    @property
    def guard_ms(self) -> float:
        """What is overwritten on either side of a stretch."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def mask(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> Speech:
        """Speech of the same length; its stretches [begin_s, end_s) and their guard bands hold nothing of the original."""

    def intervals(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
        """The samples [begin, end) that `mask` overwrites, guard bands included: for measuring."""

    def ledger(self) -> LedgerEntry:
        """What the ledger says of masking: what is put in place, and what its length still tells."""


class BeforeVoice(ABC):
    """Besides being a Masker: one that comes before the voice, which then says what stands in place of the masked words."""

    @abstractmethod
    def respoken(self, spoken: Spoken, edits: Sequence[Edit]) -> Spoken:
        """Without the sensitive words; with those of `edits`, for a voice that speaks from phones to say."""
