"""How much of the melody is left: the correlation of log F0 before and after, where both are voiced.

F0 is the lag of the highest peak of each frame's normalised autocorrelation. A voice may stretch time, so the frames
of the one are looked up in the other through the words, whose borders are known on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.audio import Speech, resample
from sottovoce.models.records import Word

RATE_HZ, FRAME, HOP = 8_000, 400, 80
LOWEST_HZ, HIGHEST_HZ = 60, 400
MIN_PEAK = 0.5
MIN_FRAMES = 20


def log_f0(speech: Speech) -> np.ndarray:
    """Natural log of F0 in Hz every 10 ms; NaN where the frame is not voiced."""
    samples = np.pad(resample(speech, RATE_HZ).samples.astype(np.float64), FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(samples, FRAME)[::HOP]
    frames = (frames - frames.mean(axis=1, keepdims=True)) * np.hanning(FRAME)
    power = np.abs(np.fft.rfft(frames, 2 * FRAME, axis=1)) ** 2
    correlation = np.fft.irfft(power, axis=1)[:, :FRAME]
    window = np.fft.irfft(np.abs(np.fft.rfft(np.hanning(FRAME), 2 * FRAME)) ** 2)[:FRAME]
    shortest, longest = RATE_HZ // HIGHEST_HZ, RATE_HZ // LOWEST_HZ
    energy = np.maximum(correlation[:, :1], 1e-9)
    likeness = correlation[:, shortest : longest + 1] / energy / (window[shortest : longest + 1] / window[0])
    # The first peak nearly as high as the highest: a multiple of the period is as good a match as the period.
    high = likeness >= 0.9 * likeness.max(axis=1, keepdims=True)
    best = np.argmax(high & _is_peak(likeness), axis=1)
    found = np.log(RATE_HZ / (best + shortest))
    loud = energy[:, 0] > 1e-3 * np.quantile(energy, 0.95)
    return np.where((likeness[np.arange(len(best)), best] > MIN_PEAK) & loud, found, np.nan)


def _is_peak(values: np.ndarray) -> np.ndarray:
    padded = np.pad(values, ((0, 0), (1, 1)), constant_values=-np.inf)
    return (values >= padded[:, :-2]) & (values >= padded[:, 2:])


def f0_correlation(before: Speech, after: Speech, words: Sequence[Word], moved: Sequence[Word]) -> float:
    """Pearson correlation over frames voiced on both sides; NaN where these are too few."""
    first, second = log_f0(before), log_f0(after)
    times_s = np.arange(len(first)) * HOP / RATE_HZ
    there = np.round(np.interp(times_s, *_time_map(before, after, words, moved)) * RATE_HZ / HOP).astype(int)
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
