"""An utterance with its speech and the words found in it: what travels between the speech stages of one worker."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.models.audio import Speech
from sottovoce.models.masked_words import MaskedWords, mark
from sottovoce.models.records import Utterance, Word


@dataclass(frozen=True, slots=True, repr=False)
class Spoken:
    utterance: Utterance
    speech: Speech
    words: tuple[Word, ...] = ()
    unsaid: bool = False  # the voice never spoke the words to be masked: a silence stands in their place
    masked: MaskedWords | None = None  # set once the sensitive words are gone from the speech

    def __repr__(self) -> str:
        return "<Spoken: sensitive>"


def where_to_listen(spoken: Spoken) -> MaskedWords:
    """The masks, for a listener. Around words that were never spoken the edges of their neighbours count as masked too.

    A recogniser takes the end of a word before a sudden silence for the begin of whatever it was told to listen for.
    """
    assert spoken.masked is not None, "the check comes after masking"
    return mark(spoken.utterance.text, spoken.utterance.spans, spoken.words) if spoken.unsaid else spoken.masked
