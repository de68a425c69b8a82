"""Listen again in many languages: Whisper base writes down what it hears in the masked speech (`recognisers.py`).

A word that was heard is compared with a removed one by its sounds where the language is English, by its letters elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.settings import require
from sottovoce.models.speech import whisper
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.recognise import Recogniser
from sottovoce.models.speech.recognise.recognisers import recogniser_ledger, written_again


@dataclass
class WhisperListener(Recogniser):
    """`language`: of all that it hears, a code such as "de"; empty: as it hears it."""

    language: str = ""
    tolerance: float = 0.25
    _network: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require((0 <= self.tolerance <= 1, "tolerance: must lie in [0, 1]"))

    def setup(self) -> None:
        self._network = whisper.Whisper()
        require(
            (
                not self.language or self._network.knows(self.language),
                f"language: Whisper does not know {self.language!r}",
            )
        )

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        return written_again(self.transcribe(speech), text, words, masked, self.tolerance)

    def transcribe(self, speech: Speech) -> str:
        """In stretches as long as the network takes; a word on a border between two may be lost."""
        length = round(whisper.LONGEST_S * speech.rate_hz)
        parts = (speech.samples[at : at + length] for at in range(0, len(speech.samples), length))
        heard = (self._network.encode(Speech(samples, speech.rate_hz)) for samples in parts)
        return " ".join(self._network.write(one, self.language) for one in heard)

    def ledger(self) -> LedgerEntry:
        return recogniser_ledger("whisper", self.tolerance)
