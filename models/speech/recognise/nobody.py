"""No check: for a job that says so, and is told so in its ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.masked_words import MaskedWords


@dataclass(frozen=True)
class Nobody:
    """The member `relisten: none`: hears nothing, so nothing is refused because a masked word is still audible."""

    def setup(self) -> None:
        """Nothing to load."""

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        return frozenset()

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="relisten",
            mechanism="none",
            says="Nobody listens to the masked speech.",
            not_protected=("a sensitive word whose mask lies beside it",),
        )
