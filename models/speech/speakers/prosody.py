"""An attacker who hears no timbre at all: how high, how melodious, how fast, how loud by turns, and where somebody pauses.

Statistics of pitch, of stretches that are voiced, of pauses and of the envelope of loudness, each in units of what public
speakers do (251 of LibriSpeech): what is left of these links utterances even where no spectrum of the source passes.
The level as a whole is left out, since slices are set to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.mel_bands import log_bands
from sottovoce.models.speech.melody import FRAMES_PER_S, log_f0

RATE_HZ, MIN_SAMPLES = 16_000, 8_000
PAUSE_DEPTH = 4.0  # nats of power below the loud parts: nobody speaks there
MODULATION_HZ = ((0.5, 1.5), (1.5, 3), (3, 5), (5, 8), (8, 12), (12, 20))
# Of three seconds of each speaker.
PUBLIC_MEAN = np.array([
    5.002, 0.247, 0.289, 0.252, 0.017, -0.005, 0.471, 0.576, -2.682, 1.103, 4.125, -2.306, 1.063,
    3.734, -2.873, 1.113, 3.675, 1.197, 0.655, -1.254, -1.726, -1.874, -2.424, -3.108, -3.517,
])  # fmt: skip
PUBLIC_SPREAD = np.array([
    0.326, 0.107, 0.231, 0.201, 0.006, 0.006, 0.163, 0.174, 0.557, 0.275, 1.858, 0.593, 0.316,
    1.634, 0.604, 0.374, 1.609, 0.168, 0.12, 0.893, 0.655, 0.719, 0.815, 0.823, 0.813,
])  # fmt: skip


@dataclass
class Prosody:
    """An encoder without weights: a recording as statistics of pitch, tempo, loudness and pauses."""

    def setup(self) -> None:
        """Nothing is heavy."""

    def embed(self, speech: Speech) -> np.ndarray:
        return ((_statistics(speech) - PUBLIC_MEAN) / PUBLIC_SPREAD).clip(-5, 5).astype(np.float32)


def _statistics(speech: Speech) -> np.ndarray:
    samples = resample(speech, RATE_HZ).samples
    samples = np.tile(samples, -(-MIN_SAMPLES // max(len(samples), 1)))
    pitch = log_f0(Speech(samples, RATE_HZ))
    loud = log_bands(samples).max(axis=1)
    frames = min(len(pitch), len(loud))
    pitch, loud = pitch[:frames], loud[:frames]
    sounding = loud > np.quantile(loud, 0.95) - PAUSE_DEPTH
    voiced = ~np.isnan(pitch) & sounding
    melody = (_melody(pitch[voiced]), _slopes(pitch, voiced))
    return np.concatenate([*melody, _rhythm(voiced, sounding), _envelope(loud, sounding)])


def _melody(pitch: np.ndarray) -> np.ndarray:
    """Height, spread, and how far the highest and lowest tenth lie from the middle."""
    if not len(pitch):
        return np.array([np.log(150.0), 0.0, 0.0, 0.0])
    low, middle, high = np.quantile(pitch, [0.1, 0.5, 0.9])
    return np.array([middle, pitch.std(), high - middle, middle - low])


def _slopes(pitch: np.ndarray, voiced: np.ndarray) -> np.ndarray:
    """How fast the pitch moves, and whether it rises or falls."""
    steps = np.diff(pitch)[voiced[1:] & voiced[:-1]]
    steps = steps[np.abs(steps) < 0.2]  # an octave error is no melody
    return np.array([np.abs(steps).mean(), steps.mean()]) if len(steps) else np.zeros(2)


def _rhythm(voiced: np.ndarray, sounding: np.ndarray) -> np.ndarray:
    """Shares of time, lengths of stretches in log seconds and how often they come in a second."""
    seconds = len(voiced) / FRAMES_PER_S
    out = [voiced.mean(), sounding.mean()]
    for marks in (voiced, sounding, ~sounding):
        lengths = np.log(_runs(marks) / FRAMES_PER_S) if marks.any() else np.array([np.log(0.05)])
        out += [lengths.mean(), lengths.std(), len(lengths) / seconds]
    return np.array(out)


def _envelope(loud: np.ndarray, sounding: np.ndarray) -> np.ndarray:
    """Spread of loudness where somebody speaks, how fast it changes, and at which rates it goes up and down."""
    spoken = loud[sounding]
    power = np.abs(np.fft.rfft((loud - loud.mean()) * np.hanning(len(loud)), 1024)) ** 2
    rates = np.fft.rfftfreq(1024, 1 / FRAMES_PER_S)
    bands = np.array([power[(rates >= low) & (rates < high)].sum() for low, high in MODULATION_HZ]) + 1e-6
    return np.array([spoken.std(), np.abs(np.diff(loud)).mean(), *np.log(bands / bands.sum())])


def _runs(marks: np.ndarray) -> np.ndarray:
    """Lengths of the stretches where `marks` holds, in frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(int)))
    return (edges[1::2] - edges[::2]).astype(float)
