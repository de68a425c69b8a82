"""How public speakers really say each phone: what their spectra do otherwise than the phone network expects.

A network that learnt means says means: every /t/ alike. Recognisers that are trained or adapted on such speech learn little. So
beside the pool lie some hundred true sounds of each phone, from public speakers, as departures from what the network
expects, freed of their speaker's habits as `departures.py` frees the source's. For each sound of the source a few of them are
drawn with the run's secret, and the nearest of these is said. What passes of the source is which one: log2 of how many
were drawn, in bits, and no figure of its spectrum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.voice.departures import centred
from sottovoce.models.speech.voice.opus_features import VOICING
from sottovoce.models.speech.voice.phone_network import VOICING_UNIT, PhoneNetwork
from sottovoce.models.speech.voice.phone_track import SILENCE, PhoneTrack, frame_inputs
from sottovoce.models.speech.voice.pool import WEIGHTS
from sottovoce.models.speech.voice.prosody import network_inputs

FILE = "sounds.npz"
POINTS = 6  # of a sound, from its begin to its end
STEP = 0.05  # of what is kept, in units of the network
SMOOTH = 0.5  # frames
BANDS = 18


@dataclass(frozen=True, eq=False)
class PublicSounds:
    """Stretches of public speech by phone, each as its difference from what the network would say."""

    phone: np.ndarray  # [n]
    shape: np.ndarray  # [n, POINTS, 18] in steps of STEP

    def __post_init__(self) -> None:
        if self.shape.shape != (len(self.phone), POINTS, BANDS):
            raise CorpusError(f"{FILE} is damaged: shape has another shape than its phones ask for")

    @cached_property
    def by_phone(self) -> dict[int, np.ndarray]:
        """[sounds of the phone, POINTS, 18] of each phone."""
        return {int(p): STEP * self.shape[self.phone == p].astype(np.float32) for p in np.unique(self.phone)}

    def said(
        self,
        track: PhoneTrack,
        departures: np.ndarray,
        draws: int,
        draw: np.random.Generator,
        joins: float = 0.0,
        depth: float = 1.0,
    ) -> np.ndarray:
        """[frames, 18] to be added to what the network says of a retimed track; `departures` are the source's [frames, 18].

        `joins`: what a jump from the sound before counts beside the distance from the source; `depth`: how much of a sound is
        added. A phone that the source never said has no sound of its own: what joins best, or is drawn first, will do.
        """
        from scipy.ndimage import gaussian_filter1d

        out, last = np.zeros((track.frames, BANDS), np.float32), None
        for at, (phone, begin, length) in enumerate(zip(track.phone, track.begin, track.length, strict=True)):
            known = self.by_phone.get(int(phone))
            if phone == SILENCE or known is None:
                last = None
                continue
            some = known[draw.choice(len(known), min(draws, len(known)), replace=False)]
            cost = np.zeros(len(some)) if last is None else joins * np.square(some[:, 0] - last).sum(axis=1)
            own = departures[track.source_begin[at] : track.source_begin[at] + track.source_length[at]]
            if len(own):
                cost += np.square(some - resampled(own, POINTS)).sum(axis=(1, 2)) / POINTS
            nearest = int(np.argmin(cost))
            last = some[nearest, -1]
            out[begin : begin + length] = resampled(some[nearest], int(length))
        return depth * gaussian_filter1d(out, SMOOTH, axis=0)

    def save(self, folder: Path) -> None:
        np.savez_compressed(folder / FILE, phone=self.phone.astype(np.uint8), shape=self.shape)


def load(path: Path | str | None = None) -> PublicSounds:
    """The sounds in a folder that `sottovoce build voice` wrote; without a path, those that ship."""
    file = Path(path or WEIGHTS) / FILE
    if not file.is_file():
        raise CorpusError(f"{file.parent}: holds no {FILE}; make one with `sottovoce build voice`")
    with np.load(file) as stored:
        return PublicSounds(**dict(stored.items()))


def spectral_departures(
    network: PhoneNetwork, middle: np.ndarray, features: np.ndarray, prosody: np.ndarray, track: PhoneTrack
) -> np.ndarray:
    """[frames of the source, 18]: its spectrum less what the network expects, without the mean of each class of phones.

    `track` may leave words out: nothing but what is said has a part in it.
    """
    rows = np.clip(np.round(track.source_positions()).astype(int), 0, len(features) - 1)
    truth = np.concatenate(
        [features[rows, 1:18] / network.cepstra_unit, features[rows, VOICING:] / VOICING_UNIT], axis=1
    )
    inputs = np.concatenate([frame_inputs(track), network_inputs(prosody[rows])], axis=1)
    out = np.zeros((len(features), BANDS), np.float32)
    expected = network.spectrum(inputs, np.tile(middle, (len(rows), 1)))
    out[rows] = centred(truth - expected, track.phone[track.owner])
    return out


def resampled(shape: np.ndarray, points: int) -> np.ndarray:
    """[points, d] from the begin of a shape [n, d] to its end."""
    at, rows = np.linspace(0, len(shape) - 1, points), np.arange(len(shape))
    return np.stack([np.interp(at, rows, column) for column in shape.T], axis=1)
