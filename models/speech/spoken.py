"""An utterance with its speech and the words found in it: what travels between the speech stages of one worker."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.models.records import Utterance, Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.slice import Slice


@dataclass(frozen=True, slots=True, repr=False)
class Spoken:
    """Sensitive: one utterance on its way through the speech chain. Each step returns a changed copy."""

    utterance: Utterance
    speech: Speech
    words: tuple[Word, ...] = ()
    unsaid: bool = False  # the voice never spoke the words to be masked: a silence stands in their place
    masked: MaskedWords | None = None  # set once the sensitive words are gone from the speech
    slices: tuple[Slice, ...] = ()  # said one by one, where the voice does so
    others: tuple[Spoken, ...] = ()  # the same utterance, said again with other draws
    loaded_s: float = 0.0  # the length of the recording: the voice may change that of the speech

    def __repr__(self) -> str:
        return "<Spoken: sensitive>"
