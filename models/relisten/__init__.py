"""Listen to masked speech: a removed word that is still heard was masked in the wrong place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sottovoce.models.audio import Speech
from sottovoce.models.errors import Refusal
from sottovoce.models.masked_words import MaskedWords
from sottovoce.models.records import LedgerEntry, Word

TABLE = {
    "pocketsphinx": "sottovoce.models.relisten.pocketsphinx:PocketSphinxListener",
    "moonshine": "sottovoce.models.relisten.recognisers:Moonshine",
    "vosk": "sottovoce.models.relisten.recognisers:Vosk",
    "hf": "sottovoce.models.relisten.hf_recogniser:HuggingFace",
    "none": "sottovoce.models.relisten.nobody:Nobody",
}


class StillHeard(Refusal):
    code = "still_heard"
    allowed = "speech in which no removed word is heard after masking"


class Listener(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        """Indices of masked words that are still heard in the masked speech."""

    def ledger(self) -> LedgerEntry: ...


def refuse_if_heard(listener: Listener, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> None:
    if masked.indices and listener.heard(speech, text, words, masked):
        raise StillHeard
