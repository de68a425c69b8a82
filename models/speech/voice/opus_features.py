"""What the vocoder speaks from, found in speech: 18 Bark cepstra, pitch and voicing for every 10 ms, as Opus computes them.

Valin et al., "Very low complexity speech synthesis using framewise autoregressive GAN (FARGAN) with pitch prediction",
2024, section 2; the constants are those of Opus 1.5 (dnn/lpcnet_enc.c), against which tests check the values. A frame
is 20 ms long and centred on its time. Pitch p means F0 = 62.5 Hz 2^(p + 1.5); voicing is a correlation minus one half.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.voice.opus_pitch import PitchTracker

RATE_HZ, HOP, WINDOW = 16_000, 160, 320
CEPSTRA, PITCH, VOICING, FEATURES = 18, 18, 19, 20
PREEMPHASIS = 0.85
BAND_EDGES = 4 * np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 34, 40])  # in bins of 50 Hz
COMPENSATION = np.array([0.8, *[1.0] * 7, 2 / 3, 0.5, 0.5, 0.5, 1 / 3, 0.25, 0.25, 0.2, 1 / 6, 0.173913])
LPC_ORDER = 16
MAX_PERIOD = 256
LOWEST_F0_HZ = RATE_HZ / MAX_PERIOD


def log_f0(pitch: np.ndarray) -> np.ndarray:
    """Natural logarithm of Hz from the vocoder's pitch."""
    return np.log(LOWEST_F0_HZ) + (pitch + 1.5) * np.log(2)


def pitch_of(log_hz: np.ndarray) -> np.ndarray:
    """The vocoder's pitch from the natural logarithm of Hz: what `log_f0` undoes."""
    return (log_hz - np.log(LOWEST_F0_HZ)) / np.log(2) - 1.5


def periods(pitch: np.ndarray) -> np.ndarray:
    """Whole samples."""
    return np.floor(0.5 + MAX_PERIOD / 2.0 ** (pitch + 1.5)).astype(np.int64)


class Analysis:
    """Holds the small network that follows the pitch. Not thread-safe only in that it is slow to make: make one."""

    def __init__(self) -> None:
        self._tracker = PitchTracker()

    def __call__(self, speech: Speech) -> np.ndarray:
        """Features [frames, 20]; frame i stands at i * 10 ms."""
        samples = 32768.0 * resample(speech, RATE_HZ).samples.astype(np.float64)
        frames = len(samples) // HOP + 2
        samples = np.pad(samples, (0, frames * HOP - len(samples)))
        emphasised = samples - PREEMPHASIS * np.concatenate([[0.0], samples[:-1]])
        spectrum = _spectrum(emphasised)
        cepstra = _cepstra(spectrum)
        residual = _whitened(emphasised, _predictors(cepstra))
        pitch = self._tracker(spectrum, residual)
        voicing = _voicing(residual, periods(pitch))
        return np.concatenate([cepstra, pitch[:, None], voicing[:, None]], axis=1).astype(np.float32)


def _spectrum(emphasised: np.ndarray) -> np.ndarray:
    frames = sliding_window_view(np.pad(emphasised, (HOP, 0)), WINDOW)[::HOP]
    rise = np.sin(
        0.5 * np.pi * np.sin(0.5 * np.pi * (np.arange(HOP) + 0.5) / HOP) ** 2
    )  # Vorbis' power-complementary window
    return np.fft.rfft(frames * np.concatenate([rise, rise[::-1]]), axis=1) / WINDOW


@lru_cache(maxsize=1)
def _triangles() -> np.ndarray:
    """[161 bins, 18 bands]: each bin is shared between the two bands around it."""
    weights = np.zeros((WINDOW // 2 + 1, CEPSTRA))
    for band, (begin, end) in enumerate(pairwise(BAND_EDGES)):
        share = np.arange(end - begin) / (end - begin)
        weights[begin:end, band] += 1 - share
        weights[begin:end, band + 1] += share
    return weights


def _cepstra(spectrum: np.ndarray) -> np.ndarray:
    from scipy.fft import dct

    energies = np.abs(spectrum) ** 2 @ _triangles()
    energies[:, [0, -1]] *= 2
    levels = np.log10(1e-2 + energies)
    loudest = np.full(len(levels), -2.0)
    follow = loudest.copy()
    for band in range(
        CEPSTRA
    ):  # a band far below its neighbours is not heard: it is lifted to a floor that falls slowly
        levels[:, band] = np.maximum(loudest - 8, np.maximum(follow - 2.5, levels[:, band]))
        loudest = np.maximum(loudest, levels[:, band])
        follow = np.maximum(follow - 2.5, levels[:, band])
    cepstra = dct(levels, type=2, norm="ortho", axis=1)
    cepstra[:, 0] -= 4
    return cepstra


def _predictors(cepstra: np.ndarray) -> np.ndarray:
    """Linear prediction [frames, 16] from the spectrum that the cepstra describe; stops early at a gain of 30 dB."""
    from scipy.fft import idct

    shifted = cepstra + np.eye(1, CEPSTRA) * 4
    energies = 10 ** idct(shifted, type=2, norm="ortho", axis=1) * COMPENSATION
    lags = np.fft.irfft(energies @ _triangles().T, axis=1)[:, : LPC_ORDER + 1] * WINDOW
    lags[:, 0] += lags[:, 0] * 1e-4 + 26 / 38
    lags *= np.where(np.arange(LPC_ORDER + 1) > 0, 1 - 6e-5 * np.arange(LPC_ORDER + 1) ** 2, 1)
    predictors = np.zeros((len(lags), LPC_ORDER))
    errors, running = lags[:, 0].copy(), np.ones(len(lags), bool)
    for order in range(LPC_ORDER):
        reached = np.sum(predictors[:, :order] * lags[:, order:0:-1], axis=1) + lags[:, order + 1]
        reflection = np.where(running, -reached / errors, 0.0)
        predictors[:, :order] += reflection[:, None] * predictors[:, :order][:, ::-1]
        predictors[:, order] = reflection
        errors *= 1 - reflection**2
        running &= errors >= 1e-3 * lags[:, 0]
    return predictors


def _whitened(emphasised: np.ndarray, predictors: np.ndarray) -> np.ndarray:
    """What each frame's predictor leaves, 5 ms late as the predictor is centred there."""
    late = np.concatenate([np.zeros(LPC_ORDER + HOP // 2), emphasised])[: LPC_ORDER + len(emphasised)]
    history = sliding_window_view(late, LPC_ORDER)[:-1].reshape(len(predictors), HOP, LPC_ORDER)
    predicted = np.einsum("fnk,fk->fn", history[:, :, ::-1], predictors)
    return late[LPC_ORDER:] + predicted.reshape(-1)


def _voicing(residual: np.ndarray, period: np.ndarray) -> np.ndarray:
    """Correlation of the low-passed residual with itself one period ago, squashed, minus one half."""
    from scipy.signal import lfilter

    low = np.pad(lfilter([1, -0.84946, 1], [1, -1.54220, 0.70781], residual), (MAX_PERIOD, 0))
    begins = MAX_PERIOD + HOP * np.arange(len(period))
    now = low[begins[:, None] + np.arange(HOP)]
    before = low[(begins - period)[:, None] + np.arange(HOP)]
    correlation = np.sum(now * before, axis=1) / np.sqrt(1 + np.sum(now**2, axis=1) * np.sum(before**2, axis=1))
    return np.log1p(np.exp(5 * correlation)) / np.log1p(np.exp(5)) - 0.5
