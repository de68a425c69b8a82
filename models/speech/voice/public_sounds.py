"""How public speakers really say each phone: what their spectra do otherwise than the phone network expects.

A network that learnt means says means: every /t/ alike. Recognisers that are trained or adapted on such speech learn little. So
beside the pool lie some hundred true sounds of each phone, from public speakers, as departures from what the network
expects, freed of their speaker's habits as `departures.py` frees the source's. For each sound of the source a few of them are
drawn with the run's secret, and the nearest of these is said: by spectrum, or by the phones that the aligner's network hears
in both, in which less of the speaker is. What passes of the source is which one: log2 of how many were drawn, in bits, and
no figure of its spectrum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech import sphinx
from sottovoce.models.speech.align.phone_judge import LABELS, Judge
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.voice.departures import centred
from sottovoce.models.speech.voice.opus_features import HOP, VOICING
from sottovoce.models.speech.voice.phone_network import VOICING_UNIT, PhoneNetwork
from sottovoce.models.speech.voice.phone_track import LEAD, SILENCE, PhoneTrack, frame_inputs
from sottovoce.models.speech.voice.pool import WEIGHTS
from sottovoce.models.speech.voice.prosody import network_inputs

FILE = "sounds.npz"
POINTS = 6  # of a sound, from its begin to its end
STEP = 0.05  # of what is kept, in units of the network
SMOOTH = 0.5  # frames
BANDS = 18
PHONE_POINTS = 3
WHOLE = 255  # a root of a probability of one, as it is kept
DULLED = 1.5  # the network is surer than it is right
PHONES_COUNT = 8.0  # what the phones count beside a jump of the spectrum

Follow = Literal["spectrum", "phones"]


@dataclass(frozen=True, eq=False)
class PublicSounds:
    """Stretches of public speech by phone, each as its difference from what the network would say."""

    phone: np.ndarray  # [n]
    shape: np.ndarray  # [n, POINTS, 18] in steps of STEP
    heard: np.ndarray | None = None  # [n, PHONE_POINTS, LABELS] as `phones_heard` gives them

    def __post_init__(self) -> None:
        heard = self.heard is None or self.heard.shape == (len(self.phone), PHONE_POINTS, len(LABELS))
        if self.shape.shape != (len(self.phone), POINTS, BANDS) or not heard:
            raise CorpusError(f"{FILE} is damaged: shape or heard has another shape than its phones ask for")

    @cached_property
    def rows(self) -> dict[int, np.ndarray]:
        """The sounds of each phone."""
        return {int(p): np.flatnonzero(self.phone == p) for p in np.unique(self.phone)}

    def said(
        self,
        track: PhoneTrack,
        followed: np.ndarray,
        draws: int,
        draw: np.random.Generator,
        joins: float = 0.0,
        depth: float = 1.0,
        follow: Follow = "spectrum",
    ) -> np.ndarray:
        """[frames, 18] to be added to what the network says of a retimed track. `followed` is the source's, on its clock:
        its spectral departures [frames, 18], or the phones that are heard in it [frames, LABELS].

        `joins`: what a jump between two sounds counts beside the distance from the source; between two silences the sounds
        are chosen that cost least together. `depth`: how much of a sound is added. A phone that the source never said has no
        sound of its own: what joins best, or is drawn first, will do.
        """
        from scipy.ndimage import gaussian_filter1d

        out = np.zeros((track.frames, BANDS), np.float32)
        drawn: list[tuple[int, np.ndarray, np.ndarray]] = []  # segment, rows, and what each costs
        for at, phone in enumerate([*track.phone, SILENCE]):
            if phone == SILENCE or int(phone) not in self.rows:
                for segment, row in self._cheapest(drawn, joins):
                    begin, length = int(track.begin[segment]), int(track.length[segment])
                    out[begin : begin + length] = resampled(STEP * self.shape[row].astype(np.float32), length)
                drawn = []
                continue
            known = self.rows[int(phone)]
            some = known[draw.choice(len(known), min(draws, len(known)), replace=False)]
            own = followed[track.source_begin[at] : track.source_begin[at] + track.source_length[at]]
            drawn.append((at, some, self._far(some, own, follow)))
        return depth * gaussian_filter1d(out, SMOOTH, axis=0)

    def _far(self, rows: np.ndarray, own: np.ndarray, follow: Follow) -> np.ndarray:
        """How far each sound is from the source's."""
        if not len(own):
            return np.zeros(len(rows))
        if follow == "spectrum":
            theirs, points, scale = STEP * self.shape[rows].astype(np.float32), POINTS, 1.0
        else:
            assert self.heard is not None, "`load` has seen to it"
            theirs, points, scale = self.heard[rows] / WHOLE, PHONE_POINTS, PHONES_COUNT
            own = own / WHOLE
        found: np.ndarray = scale * np.square(theirs - resampled(own, points)).sum(axis=(1, 2)) / points
        return found

    def _cheapest(self, drawn: Sequence[tuple[int, np.ndarray, np.ndarray]], joins: float) -> list[tuple[int, int]]:
        """Segment and row of each sound on the path that costs least (Viterbi)."""
        total, came_from = np.zeros(0), []
        for number, (_, rows, cost) in enumerate(drawn):
            if number:
                ends, begins = (
                    STEP * self.shape[r, p].astype(float) for r, p in ((drawn[number - 1][1], -1), (rows, 0))
                )
                jumps = np.square(ends[:, None] - begins[None]).sum(axis=2)
                ways = total[:, None] + joins * jumps
                came_from.append(ways.argmin(axis=0))
                cost = cost + ways.min(axis=0)
            total = cost
        chosen = [int(total.argmin())] if drawn else []
        for back in reversed(came_from):
            chosen.append(int(back[chosen[-1]]))
        return [(at, int(rows[best])) for (at, rows, _), best in zip(drawn, reversed(chosen), strict=True)]

    def save(self, folder: Path) -> None:
        more: dict[str, Any] = {} if self.heard is None else {"heard": self.heard}
        np.savez_compressed(folder / FILE, phone=self.phone.astype(np.uint8), shape=self.shape, **more)


def load(path: Path | str | None = None, follow: Follow = "spectrum") -> PublicSounds:
    """The sounds in a folder that `sottovoce build voice` wrote; without a path, those that ship."""
    file = Path(path or WEIGHTS) / FILE
    if not file.is_file():
        raise CorpusError(f"{file.parent}: holds no {FILE}; make one with `sottovoce build voice`, or say prosody: 1")
    with np.load(file) as stored:
        found = PublicSounds(**dict(stored.items()))
    if follow == "phones" and found.heard is None:
        raise CorpusError(
            f"{file.parent}: {FILE} is older than `follow: phones`; hear the corpus again with build voice, or say prosody: 1"
        )
    return found


def phones_heard(judge: Judge, speech: Speech, frames: int) -> np.ndarray:
    """[frames, LABELS]: what the network takes each frame for, on the vocoder's clock; roots of probabilities times WHOLE."""
    roots = _roots(judge, speech)
    found: np.ndarray = roots[np.clip(np.arange(frames) - LEAD, 0, len(roots) - 1)]
    return found


def phones_heard_in(judge: Judge, speech: Speech, track: PhoneTrack) -> np.ndarray:
    """The same on the source's clock, of what the track says alone: a word that is left out is cut out of the sound before,
    and a silence of the track's length put there, so that neither its sound nor its length changes anything."""
    samples = resample(speech, sphinx.RATE_HZ).samples
    samples = np.concatenate([np.zeros(HOP * LEAD, np.float32), samples])
    lengths = np.where(track.left_out, track.length, track.source_length)
    segments = list(zip(track.source_begin, lengths, track.left_out, strict=True))
    pieces = [
        np.zeros(HOP * length, np.float32) if left_out else samples[HOP * begin : HOP * (begin + length)]
        for begin, length, left_out in segments
    ]
    roots = _roots(judge, Speech(np.concatenate(pieces), sphinx.RATE_HZ))
    out = np.zeros((int((track.source_begin + track.source_length).max()), roots.shape[1]), np.uint8)
    at = 0
    for begin, length, left_out in segments:
        if not left_out:
            own = np.clip(np.arange(at, at + length), 0, len(roots) - 1)
            out[begin : begin + length] = roots[own]
        at += length
    return out


def _roots(judge: Judge, speech: Speech) -> np.ndarray:
    likely = np.exp(judge.scores(sphinx.pcm_of(speech)) / DULLED)
    return np.round(WHOLE * np.sqrt(likely / likely.sum(axis=1, keepdims=True))).astype(np.uint8)


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
