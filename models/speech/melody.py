"""The pitch of speech every 10 ms: the lag of the highest peak of each frame's normalised autocorrelation."""

from __future__ import annotations

import numpy as np

from sottovoce.models.speech.audio import Speech, resample

RATE_HZ, FRAME, HOP = 8_000, 400, 80
FRAMES_PER_S = RATE_HZ // HOP
LOWEST_HZ, HIGHEST_HZ = 60, 400
MIN_PEAK = 0.5


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
