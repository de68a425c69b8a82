"""How much of the melody is left: the correlation of log F0 before and after, where both are voiced.

A voice may stretch time, so the frames of the one are looked up in the other through the words, whose borders are known
on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.records import Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.melody import FRAMES_PER_S, log_f0

MIN_FRAMES = 20


def f0_correlation(before: Speech, after: Speech, words: Sequence[Word], moved: Sequence[Word]) -> float:
    """Pearson correlation over frames voiced on both sides; NaN where these are too few."""
    first, second = log_f0(before), log_f0(after)
    times_s = np.arange(len(first)) / FRAMES_PER_S
    there = np.round(np.interp(times_s, *_time_map(before, after, words, moved)) * FRAMES_PER_S).astype(int)
    second = second[np.clip(there, 0, len(second) - 1)]
    both = ~np.isnan(first) & ~np.isnan(second)
    if both.sum() < MIN_FRAMES or min(np.ptp(first[both]), np.ptp(second[both])) == 0:
        return float("nan")
    return float(np.corrcoef(first[both], second[both])[0, 1])


def _time_map(
    before: Speech, after: Speech, words: Sequence[Word], moved: Sequence[Word]
) -> tuple[np.ndarray, np.ndarray]:
    """Matching times in seconds, rising on both sides."""
    inner = [(a.begin_s, b.begin_s) for a, b in zip(words, moved, strict=False)]
    inner += [(a.end_s, b.end_s) for a, b in zip(words, moved, strict=False)]
    pairs = np.array(sorted([(0.0, 0.0), *inner, (before.duration_s, after.duration_s)]))
    return np.maximum.accumulate(pairs[:, 0]), np.maximum.accumulate(pairs[:, 1])
