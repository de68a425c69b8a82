"""Listen to masked speech: a removed word that is still heard was masked in the wrong place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.masked_words import MaskedWords

TABLE = {
    "pocketsphinx": "sottovoce.models.speech.recognise.pocketsphinx:PocketSphinxListener",
    "moonshine": "sottovoce.models.speech.recognise.recognisers:Moonshine",
    "vosk": "sottovoce.models.speech.recognise.recognisers:Vosk",
    "whisper": "sottovoce.models.speech.recognise.whisper:WhisperListener",
    "hf": "sottovoce.models.speech.recognise.hf_recogniser:HuggingFace",
    "none": "sottovoce.models.speech.recognise.nobody:Nobody",
}
LANGUAGES = {"pocketsphinx": ("en",), "moonshine": ("en",)}  # no row: that of the model that a job names


class StillHeard(Refusal):
    """A removed word is heard in the masked speech."""

    code = "still_heard"
    allowed = "speech in which no removed word is heard after masking"


class NothingHeard(Refusal):
    """A recording without a text, of which the recogniser writes none down."""

    code = "nothing_heard"
    allowed = "speech in which the recogniser of audio.transcribe hears at least one word"


class Listener(Protocol):
    """Hears masked speech again: the last check before it is cut."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        """Indices of masked words that are still heard in the masked speech."""

    def ledger(self) -> LedgerEntry:
        """What the ledger says of the check: who listens, and what such a listener misses."""


class Recogniser(ABC):
    """Besides being a Listener: one that can also write down what is said."""

    @abstractmethod
    def transcribe(self, speech: Speech) -> str: ...


def is_transcript(text: str) -> bool:
    """A text in which nothing can be spoken, such as "-", stands for none."""
    return any(map(str.isalnum, text))


def written_down(recogniser: Recogniser, speech: Speech) -> str:
    """What is said, by the recogniser; refused where it hears no word."""
    text = recogniser.transcribe(speech)
    if not is_transcript(text):
        raise NothingHeard
    return text


def refuse_if_heard(listener: Listener, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> None:
    """Refuses the utterance if any masked word is still heard."""
    if masked.indices and listener.heard(speech, text, words, masked):
        raise StillHeard
