"""Change who seems to speak, and keep what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sottovoce.models.audio import Speech
from sottovoce.models.randomness import Secret
from sottovoce.models.records import LedgerEntry, Utterance, Word

TABLE = {
    "phonetic": "sottovoce.models.voice.phonetic:Phonetic",
    "xvector": "sottovoce.models.voice.xvector:XVector",
    "mcadams": "sottovoce.models.voice.mcadams:McAdams",
    "voicemask": "sottovoce.models.voice.voicemask:VoiceMask",
    "vtln": "sottovoce.models.voice.vtln:Vtln",
    "speecht5": "sottovoce.models.voice.speecht5:SpeechT5",
}


@dataclass(frozen=True, slots=True, repr=False)
class Voiced:
    """Anonymised speech, and the words where they now stand in it (a voice may stretch time)."""

    speech: Speech
    words: tuple[Word, ...]


class Anonymiser(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def transform(self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret) -> Voiced: ...

    def ledger(self) -> LedgerEntry: ...
