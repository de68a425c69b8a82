"""Change who seems to speak, and keep what is said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.slice import Slice

TABLE = {
    "phonetic": "sottovoce.models.speech.voice.phonetic:Phonetic",
    "xvector": "sottovoce.models.speech.voice.xvector:XVector",
    "frame_knn": "sottovoce.models.speech.voice.frame_knn:FrameKnn",
    "mcadams": "sottovoce.models.speech.voice.mcadams:McAdams",
    "voicemask": "sottovoce.models.speech.voice.voicemask:VoiceMask",
    "vtln": "sottovoce.models.speech.voice.vtln:Vtln",
    "speecht5": "sottovoce.models.speech.voice.speecht5:SpeechT5",
}
# Voices that speak from phones speak those of English.
LANGUAGES = {"phonetic": ("en",), "xvector": ("en",), "speecht5": ("en",)}


# In the ledger of every voice that makes its speech from the sound of the source, not from its words.
BACKGROUND_VOICES = (
    "voices in the background of the speaker's channel: what they say stays to be heard, and no transcript, detector or mask "
    "knows of it"
)
NOT_PROTECTED_BY_WARPING = (
    "an automatic attacker: a speaker encoder still links recordings far better than chance (docs/voice.md)",
    "an informed attacker, who trains on speech changed in the same way",
    "pitch, rhythm, accent and choice of words, which are left as they were",
    BACKGROUND_VOICES,
    "background sound, which may tell the place",
)

# (first, last) word of each slice that words with these masks will be cut into
Slices = Callable[[Sequence[Word], MaskedWords], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True, repr=False)
class Voiced:
    """Anonymised speech, and the words where they now stand in it (a voice may stretch time).

    `unsaid`: the words to be masked were not spoken; a silence stands in their place.
    """

    speech: Speech
    words: tuple[Word, ...]
    unsaid: bool = False
    slices: tuple[Slice, ...] = ()  # of a voice that says each slice by itself: these are released, and not the speech
    others: tuple[Voiced, ...] = ()  # of a voice that says an utterance several times: released beside it


class Anonymiser(Protocol):
    """Changes who seems to speak."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        """The speech in another voice. `slices` tells where it will be cut, for a voice that changes there; None where
        nothing will be cut, or the words are not known yet."""

    def ledger(self) -> LedgerEntry:
        """What the ledger says of the voice: the mechanism, how well it was measured to hide, and what it leaves."""


class TakesBatches(ABC):
    """Besides being an Anonymiser: a voice that is quicker with several utterances at once."""

    @abstractmethod
    def transform_many(self, items: Sequence[tuple[Utterance, Speech, Sequence[Word]]], secret: Secret) -> list[Voiced]:
        """One Voiced for each item; an error spoils the batch, whose items are then given to `transform` one by one."""


class SpeaksFromPhones:
    """Besides being an Anonymiser: a voice that also says words which are not in the recording, if it is told their phones."""
