"""Our vocoder speaks as Opus 1.5 does: opus_golden.npz holds what `fargan_demo -fargan-synthesis` made of its features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.audio import level
from sottovoce.models.voice.fargan import HOP, LAG, PRIMING, Fargan, seams_of

GOLDEN = np.load(Path(__file__).with_name("opus_golden.npz"))
FEATURES, SOUND = GOLDEN["features"], GOLDEN["sound"] / 32768


@pytest.fixture(scope="module")
def vocoder() -> Fargan:
    return Fargan()


def primed(features: np.ndarray) -> np.ndarray:
    return np.concatenate([np.repeat(features[:1], PRIMING, axis=0), features])


@pytest.mark.slow
def test_the_sound_is_that_of_opus(vocoder: Fargan) -> None:
    ours = vocoder.speak_together(primed(FEATURES)[None])[0]
    assert len(ours) == len(SOUND)
    # Eight-bit rounding inside Opus makes the two drift apart slowly; they stay alike sample by sample over a second.
    assert np.corrcoef(ours[:16_000], SOUND[:16_000])[0, 1] > 0.8
    assert level(ours) == pytest.approx(level(SOUND), rel=0.05)


@pytest.mark.slow
def test_parts_spoken_side_by_side_have_the_spectrum_of_the_whole(vocoder: Fargan) -> None:
    assert seams_of(FEATURES)
    parts = vocoder.speak(FEATURES)
    whole = vocoder.speak_together(primed(np.concatenate([FEATURES, FEATURES[-2:]]))[None])[0][LAG:]
    assert len(parts) == HOP * len(FEATURES)

    def bands(sound: np.ndarray) -> np.ndarray:
        frames = sound[: len(parts) // 320 * 320].reshape(-1, 320)
        energies = np.abs(np.fft.rfft(frames * np.hanning(320), axis=1)) ** 2
        return np.log10(energies[:, :160].reshape(len(frames), 8, 20).sum(axis=2) + 1e-6)

    assert np.corrcoef(bands(parts).ravel(), bands(whole).ravel())[0, 1] > 0.95


def test_no_seam_lies_in_voiced_speech() -> None:
    voiced = FEATURES.copy()
    voiced[:, 19] = 0.4
    assert seams_of(voiced) == []
    assert all(FEATURES[seam, 19] < 0 for seam in seams_of(FEATURES))


@pytest.mark.parametrize("frames", [1, 2, 30])
def test_short_features_are_spoken_whole(vocoder: Fargan, frames: int) -> None:
    sound = vocoder.speak(FEATURES[40 : 40 + frames])
    assert sound.shape == (HOP * frames,) and np.isfinite(sound).all()
