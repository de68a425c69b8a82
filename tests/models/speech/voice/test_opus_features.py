"""Our analysis agrees with Opus 1.5: opus_golden.npz holds what `fargan_demo -features` printed for a demo recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.speech.audio import AudioRef, Speech, load
from sottovoce.models.speech.voice.opus_features import PITCH, VOICING, Analysis, log_f0, periods, pitch_of

GOLDEN = Path(__file__).with_name("opus_golden.npz")
RECORDING = Path(__file__).parents[4] / "examples/demo/audio/bank-01-2.flac"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return Analysis()


def test_cepstra_pitch_and_voicing_are_those_of_opus(analysis: Analysis) -> None:
    golden = np.load(GOLDEN)["features"]
    ours = analysis(load(AudioRef(str(RECORDING))))
    assert ours.shape == golden.shape
    np.testing.assert_allclose(ours[:, :18], golden[:, :18], atol=1e-3)
    voiced = golden[:, VOICING] > 0
    # Opus rounds the inputs of its pitch network to eight bits; ours does not.
    assert np.quantile(np.abs(ours - golden)[voiced, PITCH], 0.99) < 0.01
    assert np.mean(np.abs(ours - golden)[:, VOICING] < 0.02) > 0.97


def test_the_pitch_of_a_pulse_train_is_found(analysis: Analysis) -> None:
    for hertz in (100, 160, 250):
        samples = np.zeros(16_000, np.float32)
        samples[:: 16_000 // hertz] = 0.3
        features = analysis(Speech(samples, 16_000))[20:80]
        assert np.median(np.exp(log_f0(features[:, PITCH]))) == pytest.approx(hertz, rel=0.02)
        assert np.median(features[:, VOICING]) > 0.2


def test_pitch_frequency_and_period_are_one_thing() -> None:
    pitch = np.linspace(-1.4, 1.4, 30)
    np.testing.assert_allclose(pitch_of(log_f0(pitch)), pitch, atol=1e-9)
    np.testing.assert_allclose(periods(pitch), 16_000 / np.exp(log_f0(pitch)), atol=0.5)


@pytest.mark.parametrize("samples", [0, 1, 159, 160, 800])
def test_any_length_gives_finite_features(analysis: Analysis, samples: int) -> None:
    features = analysis(Speech(np.zeros(samples, np.float32), 16_000))
    assert features.shape == (samples // 160 + 2, 20) and np.isfinite(features).all()
