"""What an utterance does otherwise than the phone network expects, freed of what its speaker does throughout.

Speech whose lengths, loudness and voicing are what a network expects of its phones is clear and all alike: it teaches a
recogniser little. The source's own teach it, and give the speaker away. But who speaks shows in what is the same all along
(slow, vowels drawn out, fricatives faint), and what was said in how one sound differs from the next. So the departures of
an utterance from what the network expects lose their mean, over the utterance and over each class of phones in it, and
what is left is added to what the network says in the pseudo-speaker's voice. Height and shape of the pitch, tempo and
pauses are public: they are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.models.speech.voice.phone_network import QUIETEST, PhoneNetwork
from sottovoce.models.speech.voice.phone_track import SILENCE, PhoneTrack, frame_inputs, segment_inputs
from sottovoce.models.speech.voice.pool import PHONES
from sottovoce.models.speech.voice.prosody import LOUDEST, whole_frames

CLASSES = (
    "IY IH EY EH Y",
    "AE AA AH AO AY AW",
    "UW UH OW OY W ER R L",
    "M N NG",
    "P T K B D G",
    "S Z SH ZH CH JH F V TH DH HH",
)
CLASS_OF = np.array([next((n for n, row in enumerate(CLASSES) if phone in row.split()), -1) for phone in PHONES])
FURTHEST = 1.2  # of a length, in logarithms: what departs further is a hesitation or a mistake of the aligner
FOLLOWED = np.array([1.0, 0.0, 1.0], np.float32)  # loudness, pitch, voicing


@dataclass(frozen=True, eq=False)
class Departures:
    """Of the source's prosody [frames, 3], on its own clock; of lengths, as the track tells them."""

    network: PhoneNetwork
    middle: np.ndarray  # a voice: whom the network is thought to expect
    prosody: np.ndarray
    public_pauses: ClassVar[float] = 1.0
    tempo: ClassVar[tuple[float, float]] = (-0.1, 0.4)  # logarithm; public readers' and, slower, people at a machine

    @classmethod
    def of(cls, network: PhoneNetwork, middle: np.ndarray, prosody: np.ndarray, track: PhoneTrack) -> Departures:
        """`prosody` is the source's, on its clock; `track` has a silence of fixed length for words that are not said.

        Nothing but the words that are said has a part in it: not even how long the others were.
        """
        rows = np.clip(np.round(track.source_positions()).astype(int), 0, len(prosody) - 1)
        expected = network.prosody(frame_inputs(track), np.tile(middle, (track.frames, 1)))
        expected[:, 2] = np.clip(expected[:, 2], 0, 1)
        out = np.zeros_like(prosody)
        out[rows] = centred(prosody[rows] - expected, track.phone[track.owner])
        return cls(network, middle, out)

    def lengths(self, track: PhoneTrack, log_pool: np.ndarray, jitter: np.ndarray) -> np.ndarray:
        expected = self.network.duration(segment_inputs(track), np.tile(self.middle, (len(track.phone), 1)))[:, 0]
        own = np.where(track.unheard, SILENCE, track.phone)
        departed = centred((np.log(np.maximum(track.source_length, 1)) - expected)[:, None], own)[:, 0]
        return whole_frames(track, np.exp(log_pool + np.clip(departed, -FURTHEST, FURTHEST) + jitter))

    def told(self, said: PhoneTrack, pooled: np.ndarray) -> np.ndarray:
        at, rows = said.source_positions(), np.arange(len(self.prosody))
        moved = np.stack([np.interp(at, rows, column) for column in self.prosody.T], axis=1)
        told = pooled + FOLLOWED * moved * ~said.unheard[said.owner, None]
        told[:, 0] = np.clip(told[:, 0], QUIETEST, LOUDEST)
        told[:, 2] = np.clip(told[:, 2], 0, 1)
        return told.astype(np.float32)


def centred(departures: np.ndarray, phone: np.ndarray) -> np.ndarray:
    """[n, d] without the mean of each class of phones [n]; nothing where nobody speaks."""
    out = np.where((phone != SILENCE)[:, None], departures, 0.0)
    for number in np.unique(CLASS_OF[phone[phone != SILENCE]]):
        own = (CLASS_OF[phone] == number) & (phone != SILENCE)
        out[own] -= out[own].mean(axis=0)
    return out
