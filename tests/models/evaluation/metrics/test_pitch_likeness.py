"""Pitch is found where there is one, and its shape is compared through a stretch of time."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.models.evaluation.metrics.pitch_likeness import f0_correlation
from sottovoce.models.records import Word
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.melody import log_f0

RATE_HZ = 16_000


def voice(f0_hz: np.ndarray) -> Speech:
    """Ten harmonics whose pitch follows `f0_hz`, one value a sample."""
    phase = 2 * np.pi * np.cumsum(f0_hz) / RATE_HZ
    return Speech((0.05 * sum(np.cos(k * phase) / k for k in range(1, 11))).astype(np.float32), RATE_HZ)


def melody(seconds: float, middle_hz: float, swing_hz: float, turns: float) -> np.ndarray:
    return middle_hz + swing_hz * np.sin(2 * np.pi * turns * np.linspace(0, 1, int(seconds * RATE_HZ)))


@pytest.mark.parametrize("f0_hz", [80.0, 120.0, 210.0, 330.0])
def test_a_steady_pitch_is_found_within_four_percent(f0_hz: float) -> None:
    found = log_f0(voice(np.full(RATE_HZ, f0_hz)))
    assert np.exp(np.nanmedian(found)) == pytest.approx(f0_hz, rel=0.04) and np.isnan(found).mean() < 0.1


def test_noise_and_silence_have_no_pitch() -> None:
    rng = np.random.default_rng(0)
    assert np.isnan(log_f0(Speech(rng.normal(0, 0.1, RATE_HZ).astype(np.float32), RATE_HZ))).mean() > 0.9
    assert np.isnan(log_f0(Speech(np.zeros(RATE_HZ, np.float32), RATE_HZ))).all()


def test_the_shape_counts_and_neither_height_nor_tempo() -> None:
    before = voice(melody(2.0, 120, 20, 2))
    higher_and_slower = voice(melody(3.0, 220, 25, 2))
    words, moved = (Word(0, 1, 0.0, 2.0, 1.0),), (Word(0, 1, 0.0, 3.0, 1.0),)
    assert f0_correlation(before, higher_and_slower, words, moved) > 0.9
    assert f0_correlation(before, voice(melody(2.0, 120, -20, 2)), words, words) < -0.9


def test_too_little_voice_gives_no_figure() -> None:
    hiss = Speech(np.random.default_rng(0).normal(0, 0.1, RATE_HZ).astype(np.float32), RATE_HZ)
    assert np.isnan(f0_correlation(hiss, hiss, (), ()))
