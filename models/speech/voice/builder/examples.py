"""One utterance as the networks learn from it: phones with their lengths, prosody, and the vocoder's features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.records import Word
from sottovoce.models.speech.voice.opus_features import VOICING
from sottovoce.models.speech.voice.phone_network import VOICING_UNIT
from sottovoce.models.speech.voice.phone_track import SILENCE, PhoneTrack, track_of
from sottovoce.models.speech.voice.prosody import source_prosody

CONFIDENCE_FLOOR = 0.05  # a word under it was perhaps not said: nothing is learnt from it
LONGEST_PHONE = 40  # frames; what lasts longer is a mistake of the aligner or a hesitation
SILENCE_WEIGHT = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Heard:
    """What is kept of one utterance of the corpus between extraction and training."""

    utterance: str
    speaker: str
    gender: str
    features: np.ndarray
    words: tuple[Word, ...]
    embedding: np.ndarray | None = None  # of a speaker encoder
    phones: np.ndarray | None = None  # [frames, LABELS] as `public_sounds.phones_heard` gives them


@dataclass(frozen=True, eq=False, repr=False)
class SpeechExample:
    """One utterance in numbers: its phones by segment, of which some are `trusted`, pitch and features by frame."""

    speaker: int
    track: PhoneTrack
    trusted: np.ndarray  # [segments]
    prosody: np.ndarray  # [frames, 3]
    features: np.ndarray  # [frames, 20]
    phones: np.ndarray | None = None  # [frames, LABELS]

    @property
    def weight(self) -> np.ndarray:
        """[frames]: how much each frame counts in training."""
        owner = self.track.owner
        return np.where(self.track.speech, self.trusted[owner], SILENCE_WEIGHT).astype(np.float32)

    def spectrum(self, unit: np.ndarray) -> np.ndarray:
        """[frames, 18]: what the spectrum network has to say."""
        return np.concatenate([self.features[:, 1:18] / unit, self.features[:, VOICING:] / VOICING_UNIT], axis=1)


def example_of(heard: Heard, speaker: int) -> SpeechExample:
    """Trusted is a phone of a word that was surely said, unless it lasts too long; `speaker` is their number in the network."""
    track = track_of(heard.words, len(heard.features))
    sure = np.array([word.confidence >= CONFIDENCE_FLOOR for word in heard.words] + [True])  # -1: no word, a pause
    trusted = sure[track.word] & ((track.length <= LONGEST_PHONE) | (track.phone == SILENCE))
    return SpeechExample(speaker, track, trusted, source_prosody(heard.features, track), heard.features, heard.phones)


def cepstra_unit(examples: Sequence[SpeechExample]) -> np.ndarray:
    """Spread of each of the cepstra 1 to 17 around the mean of its phone."""
    phones = np.concatenate([example.track.phone[example.track.owner] for example in examples])
    cepstra = np.concatenate([example.features[:, 1:18] for example in examples])
    for phone in np.unique(phones):
        cepstra[phones == phone] -= cepstra[phones == phone].mean(axis=0)
    return cepstra[phones != SILENCE].std(axis=0)
