"""What a slice sounds like, in a few numbers: voice and channel (mean and spread of cepstra), background, level, edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.models.speech.audio import Speech, level, resample
from sottovoce.models.speech.mel_bands import BANDS, RATE_HZ, log_bands

CEPSTRA = 20
EDGE_FRAMES = 8


@dataclass(frozen=True, slots=True, repr=False)
class SoundPrint:
    """Cepstra of a slice's voiced half (`mean`, `spread`); the quiet (`floor`) and both ends of it in mel bands; its level."""

    mean: np.ndarray
    spread: np.ndarray
    floor: np.ndarray
    level: float
    head: np.ndarray
    tail: np.ndarray


def sound_print(speech: Speech) -> SoundPrint:
    """Measured at one rate for all slices; levels are natural logarithms, and the edges begin and end where the slice is loud."""
    bands = log_bands(resample(speech, RATE_HZ).samples)
    loud = bands.mean(axis=1)
    voiced = bands[loud >= np.median(loud)]
    sounding = np.flatnonzero(loud > loud.max() - 9)  # nats: edges are taken where speech begins, inside the pad
    cepstra = voiced @ _cosines()
    return SoundPrint(
        mean=cepstra.mean(axis=0),
        spread=cepstra.std(axis=0),
        floor=np.quantile(bands, 0.1, axis=0),
        level=float(np.log(level(speech.samples) + 1e-6)),
        head=bands[sounding[0] : sounding[0] + EDGE_FRAMES].mean(axis=0),
        tail=bands[max(sounding[-1] + 1 - EDGE_FRAMES, 0) : sounding[-1] + 1].mean(axis=0),
    )


def edge_distance(first: SoundPrint, second: SoundPrint) -> float:
    """How much the sound jumps from the end of the first slice to the begin of the second."""
    return float(np.abs(first.tail - second.head).mean())


def _cosines() -> np.ndarray:
    index = np.arange(1, CEPSTRA + 1)
    return np.cos(np.pi * (np.arange(BANDS)[:, None] + 0.5) * index / BANDS) / BANDS
