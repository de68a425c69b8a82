"""A small network of our own, which has heard other speech in another way, judges beside pocketsphinx what phone a frame is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sottovoce.models.speech import sphinx
from sottovoce.models.speech.mel_bands import log_bands

JUDGE = Path(__file__).with_name("judge.npz")  # made by tools/build_judge.py
LABELS = {label: number for number, label in enumerate(("SIL", *sphinx.PHONES.split()))}
DILATIONS = (1, 2, 3, 4, 5)
LEAST_LIKELY = -3.0  # nats: beyond, a frame is simply wrong, and how far is chance


class Judge:
    """For each frame and label, by how much it is less likely than the likeliest, in nats."""

    def __init__(self) -> None:
        with np.load(JUDGE, allow_pickle=False) as file:
            self._weights = {name: file[name].astype(np.float32) for name in file.files}

    def ratios(self, pcm: bytes) -> np.ndarray:
        """The scores, none below LEAST_LIKELY: one frame that fits nowhere must not outweigh all others."""
        return np.maximum(self.scores(pcm), LEAST_LIKELY)

    def scores(self, pcm: bytes) -> np.ndarray:
        """[frames, LABELS], the likeliest at 0."""
        x = np.maximum(self._layer(heard_bands(pcm).astype(np.float32), "0", 1), 0)
        for number, dilation in enumerate(DILATIONS, 1):
            x = x + np.maximum(self._layer(x, str(number), dilation), 0)
        scores = self._layer(x, "_last", 1)
        found: np.ndarray = scores - scores.max(axis=1, keepdims=True)
        return found

    def _layer(self, x: np.ndarray, name: str, dilation: int) -> np.ndarray:
        weights = self._weights[f"w{name}"]  # [out, in, kernel]
        kernel = weights.shape[2]
        margin = kernel // 2 * dilation
        padded = np.pad(x, ((margin, margin), (0, 0)))
        found: np.ndarray = self._weights[f"b{name}"] + sum(
            padded[tap * dilation : tap * dilation + len(x)] @ weights[:, :, tap].T for tap in range(kernel)
        )
        return found


def heard_bands(pcm: bytes) -> np.ndarray:
    """What the network hears: bands against their mean over the louder half of the recording."""
    bands = log_bands(np.frombuffer(pcm, np.int16) / 32768)
    loudness = bands.mean(axis=1)
    return bands - bands[loudness >= np.median(loudness)].mean(axis=0)
