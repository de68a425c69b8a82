"""The mean of a corpus for each phone, under differential privacy: one speaker moves it little, and noise hides that.

Each speaker gives one vector: the mean departure of each phone from what the network expects, and one figure that is the same
for everybody, by which the speakers are counted. It is cut to a fixed length, so that adding or removing a speaker changes the
sum by no more than that; Gaussian noise (`models/ledger/gaussian.py`) is added to the sum. All that follows is made from the
noisy sum alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sottovoce.models.ledger.gaussian import gaussian_sigma
from sottovoce.models.speech.voice import phone_network
from sottovoce.models.speech.voice import pool as pools
from sottovoce.models.speech.voice.builder.examples import Example, Heard, example_of
from sottovoce.models.speech.voice.corpus_means import (
    COLUMNS,
    FILE,
    LENGTH,
    LOUDNESS,
    POINTS,
    SPECTRUM,
    VOICED,
    CorpusMeans,
)
from sottovoce.models.speech.voice.phone_network import VOICING_UNIT, PhoneNetwork
from sottovoce.models.speech.voice.phone_track import SILENCE, frame_inputs, segment_inputs
from sottovoce.models.speech.voice.pool import PHONES
from sottovoce.models.speech.voice.prosody import loudness_of, network_inputs
from sottovoce.models.speech.voice.public_sounds import resampled

LONGEST = 20.0  # of a speaker's vector: what is longer is cut, whoever it is
ONE = 4.0  # what being a speaker counts in that vector
FURTHEST = 4.0  # of one frame, in units of the network: what departs further is a mistake of the aligner
QUIETEST_PAUSE = -4.0  # loudness, in units of the utterance


def move(pool: Path, heard: Sequence[Heard], out: Path, epsilon: float, delta: float, draw: np.random.Generator) -> int:
    """Write `pool`, moved to what was heard, to `out`; says how many speakers it is the mean of. `epsilon` inf: no noise."""
    network, middle = phone_network.load(pool), pools.load(pool).voice.mean(axis=0).astype(np.float32)
    by_speaker: dict[str, list[Example]] = {}
    for item in heard:
        by_speaker.setdefault(item.speaker, []).append(example_of(item, 0))
    sigma = gaussian_sigma(epsilon, delta, LONGEST) if np.isfinite(epsilon) else 0.0
    mean = means_of([vector_of(own, network, middle) for own in by_speaker.values()], sigma, draw)
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(pool.glob("*.npz")):
        if file.name != FILE and out.resolve() != pool.resolve():
            shutil.copyfile(file, out / file.name)
    CorpusMeans(mean, epsilon, delta if sigma else 0.0).save(out)
    return len(by_speaker)


def vector_of(examples: Sequence[Example], network: PhoneNetwork, middle: np.ndarray) -> np.ndarray:
    """[phones * COLUMNS + 1]: one speaker's mean departure of each phone, 0 where they said none; and that there is a speaker."""
    sums, counts = np.zeros((len(PHONES), COLUMNS)), np.zeros((len(PHONES), 1))
    for example in examples:
        usable = example.trusted & (example.track.length >= 2)
        np.add.at(sums, example.track.phone[usable], _departures(example, network, middle)[usable])
        np.add.at(counts, example.track.phone[usable], 1)
    return np.append(sums / np.maximum(counts, 1), ONE)


def cut(vector: np.ndarray) -> np.ndarray:
    """Not longer than LONGEST."""
    return vector * min(1.0, LONGEST / max(float(np.linalg.norm(vector)), 1e-9))


def means_of(vectors: Sequence[np.ndarray], sigma: float, draw: np.random.Generator) -> np.ndarray:
    """[phones, COLUMNS] from the speakers' vectors, with noise of that deviation on their sum.

    A phone that few speakers said moves little: the mean is over all of them, whose noisy number is all that is divided by.
    """
    total = np.sum([cut(vector) for vector in vectors], axis=0)
    total = total + sigma * draw.standard_normal(len(total))
    speakers = max(total[-1] / ONE, 1.0)
    mean = total[:-1].reshape(len(PHONES), COLUMNS) / speakers
    power, noise = np.square(mean).sum(axis=1, keepdims=True), COLUMNS * (sigma / speakers) ** 2
    return mean * np.maximum(
        0.0, 1 - noise / np.maximum(power, 1e-9)
    )  # James and Stein: what is mostly noise is left out


def _departures(example: Example, network: PhoneNetwork, middle: np.ndarray) -> np.ndarray:
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
