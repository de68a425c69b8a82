"""Move the formants of speech along the frequency axis and leave its pitch where it is.

Each 32 ms frame is split into an envelope (the first coefficients of its cepstrum) and the rest. The envelope is read at
warped frequencies, and the frame is filtered by the ratio of the new envelope to the old one. Frequencies are angles from
0 to pi, so that a map holds for any rate; every map here is increasing and keeps 0 and pi.
"""

from __future__ import annotations

import numpy as np

from sottovoce.models.speech.audio import Speech, level, with_level

RATE_HZ, FRAME, HOP = 16_000, 512, 128
LIFTER = 30  # samples: below the period of the highest voice, so that harmonics are not taken for formants
MOST_GAIN = np.log(16.0)
ANGLES = np.linspace(0, np.pi, FRAME // 2 + 1)


def bilinear(angles: np.ndarray, alpha: np.ndarray | float) -> np.ndarray:
    """All-pass warp: formants go down where alpha > 0 and up where alpha < 0."""
    return angles + 2 * np.arctan2(alpha * np.sin(angles), 1 - alpha * np.cos(angles))


def quadratic(angles: np.ndarray, beta: float) -> np.ndarray:
    """omega + beta (x - x^2) with x = omega / pi; increasing for |beta| < pi."""
    share = angles / np.pi
    return angles + beta * (share - share**2)


def spectra_of(samples: np.ndarray) -> np.ndarray:
    """Complex spectra [frames, FRAME / 2 + 1] of overlapping frames."""
    padded = np.pad(samples.astype(np.float64), (FRAME - HOP, FRAME))
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    return np.fft.rfft(frames * _window(), axis=1)


def envelopes_of(spectra: np.ndarray) -> np.ndarray:
    """Natural log of the smooth part of the magnitudes."""
    magnitudes = np.abs(spectra)
    floor = 1e-4 * magnitudes.max(initial=1e-6)
    cepstra = np.fft.irfft(np.log(magnitudes + floor), axis=1)
    cepstra[:, LIFTER : FRAME - LIFTER + 1] = 0
    return np.fft.rfft(cepstra, axis=1).real


def warped(speech: Speech, source_angles: np.ndarray) -> Speech:
    """The speech with its envelope at each of ANGLES taken from `source_angles`, one row or one for each frame."""
    spectra = spectra_of(speech.samples)
    envelopes = envelopes_of(spectra)
    rows = np.broadcast_to(source_angles, envelopes.shape)
    moved = np.stack([np.interp(wanted, ANGLES, own) for wanted, own in zip(rows, envelopes, strict=True)])
    gains = np.exp(np.clip(moved - envelopes, -MOST_GAIN, MOST_GAIN))
    frames = np.fft.irfft(spectra * gains, axis=1) * _window()
    out = np.zeros((len(frames) - 1) * HOP + FRAME)
    for index, frame in enumerate(frames):
        out[index * HOP : index * HOP + FRAME] += frame
    changed = out[FRAME - HOP :][: len(speech.samples)]
    peak = max(float(np.max(np.abs(changed), initial=0.0)), 1e-9)
    return with_level(Speech((changed / peak).astype(np.float32), speech.rate_hz), level(speech.samples))


def _window() -> np.ndarray:
    """Its square, at this overlap, sums to a constant; the level is set at the end."""
    return np.sqrt(np.hanning(FRAME + 1)[:-1])
