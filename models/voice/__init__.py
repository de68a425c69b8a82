"""Change who seems to speak, and keep what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sottovoce.models.audio import Speech, level, resample
from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import LedgerEntry, Utterance, Word

TABLE = {
    "phonetic": "sottovoce.models.voice.phonetic:Phonetic",
    "xvector": "sottovoce.models.voice.xvector:XVector",
    "frame_knn": "sottovoce.models.voice.frame_knn:FrameKnn",
    "mcadams": "sottovoce.models.voice.mcadams:McAdams",
    "voicemask": "sottovoce.models.voice.voicemask:VoiceMask",
    "vtln": "sottovoce.models.voice.vtln:Vtln",
    "speecht5": "sottovoce.models.voice.speecht5:SpeechT5",
}


LEAST_CHANGE = 0.05  # of the level


@dataclass(frozen=True, slots=True, repr=False)
class Voiced:
    """Anonymised speech, and the words where they now stand in it (a voice may stretch time).

    `unsaid`: the words to be masked were not spoken; a silence stands in their place.
    """

    speech: Speech
    words: tuple[Word, ...]
    unsaid: bool = False


class VoiceUnchanged(Refusal):
    code = "voice_unchanged"
    allowed = "speech that the voice can change; a pure tone, for one, has no formants to move"


def refuse_if_unchanged(before: Speech, after: Speech) -> None:
    """Nothing passes a voice as it came, whatever the method: what is left of the difference must be heard."""
    source = resample(before, after.rate_hz).samples
    shared = min(len(source), len(after.samples))
    if abs(len(source) - len(after.samples)) > after.rate_hz // 100:
        return
    first, second = source[:shared], after.samples[:shared]
    if level(first - second) < LEAST_CHANGE * max(level(first), 1e-9):
        raise VoiceUnchanged


class Anonymiser(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def transform(self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret) -> Voiced: ...

    def ledger(self) -> LedgerEntry: ...
