"""The mean of a corpus for each phone, or class of phones, under differential privacy: one speaker moves it little, and noise
hides that.

Each speaker gives one vector: the mean departure of each phone from what the network expects, and one figure that is the same
for everybody, by which the speakers are counted. It is cut to a fixed length, so that adding or removing a speaker changes the
sum by no more than that; Gaussian noise (`models/ledger/gaussian.py`) is added to the sum. All that follows is made from the
noisy sum alone. Noise grows with the root of how many figures there are, so a small corpus is moved by classes of phones.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.models.ledger.gaussian import gaussian_sigma
from sottovoce.models.speech.voice import phone_network
from sottovoce.models.speech.voice import pool as pools
from sottovoce.models.speech.voice.builder.examples import Heard, SpeechExample, example_of
from sottovoce.models.speech.voice.corpus_means import (
    BANDS,
    COLUMNS,
    FILE,
    LENGTH,
    LOUDNESS,
    POINTS,
    SPECTRUM,
    VOICED,
    CorpusMeans,
)
from sottovoce.models.speech.voice.departures import CLASS_OF
from sottovoce.models.speech.voice.phone_network import VOICING_UNIT, PhoneNetwork
from sottovoce.models.speech.voice.phone_track import SILENCE, frame_inputs, segment_inputs
from sottovoce.models.speech.voice.pool import PHONES
from sottovoce.models.speech.voice.prosody import loudness_of, network_inputs
from sottovoce.models.speech.voice.public_sounds import resampled

FURTHEST = 4.0  # of one frame, in units of the network: what departs further is a mistake of the aligner
QUIETEST_PAUSE = -4.0  # loudness, in units of the utterance


@dataclass(frozen=True, eq=False)
class Grain:
    """How finely a corpus is told: which phones share a mean, and at how many points of a phone its spectrum is taken."""

    group: np.ndarray  # [phones]
    points: int
    longest: float  # of a speaker's vector: what is longer is cut, whoever it is
    one: float  # what being a speaker counts in that vector

    @property
    def shape(self) -> tuple[int, int]:
        """(groups of phones, columns): a spectrum at each point, then loudness, voicing and length."""
        return int(self.group.max()) + 1, self.points * BANDS + COLUMNS - POINTS * BANDS

    def coarse(self, departures: np.ndarray) -> np.ndarray:
        """[n, COLUMNS] -> [n, columns of this grain]."""
        if self.points == POINTS:
            return departures
        spectrum = departures[:, SPECTRUM].reshape(-1, POINTS, BANDS).mean(axis=1)
        return np.concatenate([spectrum, departures[:, LOUDNESS:]], axis=1)

    def fine(self, mean: np.ndarray) -> np.ndarray:
        """What is told of each group, for each of its phones [phones, COLUMNS]."""
        own, shape = mean[self.group], self.points * BANDS
        return np.concatenate([np.tile(own[:, :shape], (1, POINTS // self.points)), own[:, shape:]], axis=1)


GRAINS = {
    "phone": Grain(np.arange(len(PHONES)), POINTS, longest=20.0, one=4.0),
    "class": Grain(CLASS_OF + 1, 1, longest=6.0, one=2.0),  # silence is the first
}
PHONE = GRAINS["phone"]


def move(
    pool: Path,
    heard: Sequence[Heard],
    out: Path,
    epsilon: float,
    delta: float,
    draw: np.random.Generator,
    grain: Grain = PHONE,
) -> int:
    """Write `pool`, moved to what was heard, to `out`; says how many speakers it is the mean of. `epsilon` inf: no noise."""
    network, middle = phone_network.load(pool), pools.load(pool).voice.mean(axis=0).astype(np.float32)
    by_speaker: dict[str, list[SpeechExample]] = {}
    for item in heard:
        by_speaker.setdefault(item.speaker, []).append(example_of(item, 0))
    sigma = gaussian_sigma(epsilon, delta, grain.longest) if np.isfinite(epsilon) else 0.0
    mean = means_of([vector_of(own, network, middle, grain) for own in by_speaker.values()], sigma, draw, grain)
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(pool.glob("*.npz")):
        if file.name != FILE and out.resolve() != pool.resolve():
            shutil.copyfile(file, out / file.name)
    CorpusMeans(mean, epsilon, delta if sigma else 0.0).save(out)
    return len(by_speaker)


def vector_of(
    examples: Sequence[SpeechExample], network: PhoneNetwork, middle: np.ndarray, grain: Grain = PHONE
) -> np.ndarray:
    """[groups * columns + 1]: one speaker's mean departure of each group, 0 where they said none; and that there is a speaker."""
    sums, counts = np.zeros(grain.shape), np.zeros((grain.shape[0], 1))
    for example in examples:
        usable = example.trusted & (example.track.length >= 2)
        group = grain.group[example.track.phone[usable]]
        np.add.at(sums, group, grain.coarse(_departures(example, network, middle))[usable])
        np.add.at(counts, group, 1)
    return np.append(sums / np.maximum(counts, 1), grain.one)


def cut(vector: np.ndarray, grain: Grain = PHONE) -> np.ndarray:
    """Not longer than the grain allows."""
    return vector * min(1.0, grain.longest / max(float(np.linalg.norm(vector)), 1e-9))


def means_of(
    vectors: Sequence[np.ndarray], sigma: float, draw: np.random.Generator, grain: Grain = PHONE
) -> np.ndarray:
    """[phones, COLUMNS] from the speakers' vectors, with noise of that deviation on their sum.

    A phone that few speakers said moves little: the mean is over all of them, whose noisy number is all that is divided by.
    """
    total = np.sum([cut(vector, grain) for vector in vectors], axis=0)
    total = total + sigma * draw.standard_normal(len(total))
    speakers = max(total[-1] / grain.one, 1.0)
    mean = total[:-1].reshape(grain.shape) / speakers
    power, noise = np.square(mean).sum(axis=1, keepdims=True), grain.shape[1] * (sigma / speakers) ** 2
    # James and Stein: what is mostly noise is left out
    return grain.fine(mean * np.maximum(0.0, 1 - noise / np.maximum(power, 1e-9)))


def _departures(example: SpeechExample, network: PhoneNetwork, middle: np.ndarray) -> np.ndarray:
    """[segments, COLUMNS]: what each sound does otherwise than expected; of pauses, otherwise than the network's silence."""
    track, quiet = example.track, ~example.track.speech
    inputs, voices = frame_inputs(track), np.tile(middle, (track.frames, 1))
    spectrum = network.spectrum(np.concatenate([inputs, network_inputs(example.prosody)], axis=1), voices)
    spectrum[quiet] = [*network.silence[1:18] / network.cepstra_unit, network.silence[-1] / VOICING_UNIT]
    prosody = network.prosody(inputs, voices)
    prosody[quiet, 0] = network.silence_loudness
    loudness = example.prosody[:, 0].copy()
    mean, spread = loudness_of(example.features, track.speech)
    loudness[quiet] = np.maximum((example.features[quiet, 0] - mean) / spread, QUIETEST_PAUSE)
    shapes = np.clip(example.spectrum(network.cepstra_unit) - spectrum, -FURTHEST, FURTHEST)
    voiced = np.where(quiet, 0, example.prosody[:, 2] - np.clip(prosody[:, 2], 0, 1))
    out = np.zeros((len(track.phone), COLUMNS))
    for at, (begin, length) in enumerate(zip(track.begin, track.length, strict=True)):
        if length:
            inside = slice(begin, begin + length)
            out[at, SPECTRUM] = resampled(shapes[inside], POINTS).reshape(-1)
            out[at, LOUDNESS], out[at, VOICED] = (loudness - prosody[:, 0])[inside].mean(), voiced[inside].mean()
    expected = network.duration(segment_inputs(track), np.tile(middle, (len(track.phone), 1)))[:, 0]
    out[:, LENGTH] = np.where(track.phone == SILENCE, 0, np.log(np.maximum(track.length, 1)) - expected)
    return out
