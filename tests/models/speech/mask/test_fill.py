"""Inside a masked stretch and its guard band nothing of the original is left; outside nothing but the fades changes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.mask.fill import Noise, Silence, StretchOutsideAudio, Tone

MASKERS = (Silence(), Tone(), Noise())


def voice(seconds: float = 2.0, rate_hz: int = 16_000, seed: int = 0) -> Speech:
    return Speech(np.random.default_rng(seed).uniform(-0.5, 0.5, int(seconds * rate_hz)).astype(np.float32), rate_hz)


@pytest.mark.parametrize("masker", MASKERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 44_100, 48_000])
def test_what_stood_in_the_stretch_has_no_influence_on_the_result(masker: Silence, rate_hz: int) -> None:
    speech = voice(rate_hz=rate_hz)
    guard_s = masker.guard_ms / 1000
    begin, end = math.floor((0.5 - guard_s) * rate_hz), math.ceil((0.8 + guard_s) * rate_hz)
    other = speech.samples.copy()
    other[begin:end] = voice(seed=1, rate_hz=rate_hz).samples[begin:end]
    masked = masker.mask(speech, [(0.5, 0.8)])
    np.testing.assert_array_equal(masked.samples, masker.mask(Speech(other, rate_hz), [(0.5, 0.8)]).samples)
    fade = round(0.005 * rate_hz)
    np.testing.assert_array_equal(masked.samples[: begin - fade], speech.samples[: begin - fade])
    np.testing.assert_array_equal(masked.samples[end + fade :], speech.samples[end + fade :])
    assert len(masked.samples) == len(speech.samples) and masked.rate_hz == rate_hz


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1.9), st.floats(0.001, 0.5)), min_size=1, max_size=5),
    st.sampled_from([8_000, 16_000, 22_050]),
    st.floats(0, 200),
)
def test_every_sample_of_every_stretch_is_replaced(
    stretches: list[tuple[float, float]], rate_hz: int, guard_ms: float
) -> None:
    speech = voice(rate_hz=rate_hz)
    times = [(begin_s, min(begin_s + length_s, speech.duration_s)) for begin_s, length_s in stretches]
    masked = Silence(guard_ms=guard_ms).mask(speech, times).samples
    moments = np.arange(len(masked)) / rate_hz
    for begin_s, end_s in times:
        inside = (moments >= begin_s - guard_ms / 1000) & (moments < end_s + guard_ms / 1000)
        assert not masked[inside].any()


def test_tone_and_noise_take_the_level_of_the_neighbourhood_not_of_the_word() -> None:
    speech = voice()
    samples = speech.samples * 0.02
    samples[8_000:16_000] *= 50
    for masker in (Tone(), Noise()):
        inside = masker.mask(Speech(samples, 16_000), [(0.5, 1.0)]).samples[9_000:15_000]
        assert level(inside) == pytest.approx(level(samples[:7_000]), rel=0.2)


def test_noise_repeats_on_a_retry_and_differs_between_stretches() -> None:
    first = Noise().mask(voice(), [(0.3, 0.5), (1.3, 1.5)]).samples
    np.testing.assert_array_equal(first, Noise().mask(voice(), [(0.3, 0.5), (1.3, 1.5)]).samples)
    assert not np.array_equal(first[4_800:8_000], first[20_800:24_000])


def test_a_whole_utterance_may_be_masked() -> None:
    for masker in MASKERS:
        assert level(masker.mask(voice(), [(0.0, 2.0)]).samples) < 0.01


def test_nothing_to_mask_changes_nothing() -> None:
    np.testing.assert_array_equal(Silence().mask(voice(), []).samples, voice().samples)


@pytest.mark.parametrize("stretch", [(-0.1, 0.5), (1.5, 2.1), (0.5, 0.5), (0.8, 0.5), (3.0, 4.0), (math.nan, 1.0)])
def test_a_stretch_outside_the_audio_is_refused(stretch: tuple[float, float]) -> None:
    for masker in MASKERS:
        with pytest.raises(StretchOutsideAudio):
            masker.mask(voice(), [stretch])


def test_options_out_of_range_are_settings_errors() -> None:
    for wrong in ({"guard_ms": -1.0}, {"fade_ms": 500.0}):
        with pytest.raises(SettingsError):
            Silence(**wrong)
    with pytest.raises(SettingsError):
        Tone(frequency_hz=1.0)
