"""No check: for a job that says so, and is told so in its ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.models.audio import Speech
from sottovoce.models.masked_words import MaskedWords
from sottovoce.models.records import LedgerEntry, Word


@dataclass(frozen=True)
class Nobody:
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
