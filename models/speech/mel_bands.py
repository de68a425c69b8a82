"""Log energies in mel-spaced bands every 10 ms: what attackers on slices and learners of speech look at."""

from __future__ import annotations

import functools

import numpy as np

RATE_HZ, FRAME, HOP, BANDS = 16_000, 400, 160, 40
LOWEST_HZ, HIGHEST_HZ = 60.0, 7600.0


def log_bands(samples: np.ndarray) -> np.ndarray:
    """Log energies (frames, BANDS) of samples at RATE_HZ, in mel-spaced triangles."""
    padded = np.pad(samples.astype(np.float64), (0, max(0, FRAME - len(samples))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP] * np.hanning(FRAME)
    power = np.abs(np.fft.rfft(frames, 512, axis=1)) ** 2
    return np.log(power @ _triangles() + 1e-8)


@functools.cache
def _triangles() -> np.ndarray:
    mel = np.linspace(_mel(LOWEST_HZ), _mel(HIGHEST_HZ), BANDS + 2)
    edges = 700 * (np.exp(mel / 1127) - 1)
    bins = np.fft.rfftfreq(512, 1 / RATE_HZ)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rising, falling))


def _mel(frequency_hz: float) -> float:
    return 1127 * float(np.log1p(frequency_hz / 700))
