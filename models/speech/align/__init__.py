"""Find when each word of a known text is said."""

from __future__ import annotations

from typing import Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.speech.audio import Speech

TABLE = {
    "pocketsphinx": "sottovoce.models.speech.align.pocketsphinx:PocketSphinx",
    "ctc": "sottovoce.models.speech.align.ctc:Ctc",
    "whisper": "sottovoce.models.speech.align.whisper:Whisper",
}
LANGUAGES = {"pocketsphinx": ("en",)}  # no row: that of the model that a job names


class Aligner(Protocol):
    """Finds when each word of a known text is said."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def align(self, speech: Speech, text: str, language: str | None = None) -> tuple[Word, ...]:
        """One Word for each spoken word of the text, in order; a Refusal where the text does not fit the speech.

        `language` is what the corpus claims, a code such as "en-GB"; None where it claims nothing.
        """

    def ledger(self) -> LedgerEntry:
        """What the ledger says of aligning: which model, and what it takes for granted."""
