"""McAdams changes the voice, keeps time and loudness, and says what it does not stop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance, Word
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.voice.mcadams import McAdams, bend

SECRET = Secret(b"sixteen bytes or more")


def vowel(formants_hz: tuple[float, ...], rate_hz: int = 16_000, seconds: float = 1.0, loudness: float = 0.1) -> Speech:
    """A pulse train through two-pole resonances."""
    from scipy.signal import lfilter

    samples = np.zeros(int(rate_hz * seconds))
    samples[:: rate_hz // 120] = 1.0
    for formant_hz in formants_hz:
        radius = np.exp(-np.pi * 80 / rate_hz)
        samples = lfilter([1.0], [1, -2 * radius * np.cos(2 * np.pi * formant_hz / rate_hz), radius**2], samples)
    return Speech((samples / level(samples) * loudness).astype(np.float32), rate_hz)


def utterance(name: str, speaker_id: str | None) -> Utterance:
    return Utterance(name, "d", 0, "hello", Source("f", 1), speaker_id=speaker_id)


def strongest_hz(speech: Speech) -> float:
    spectrum = np.abs(np.fft.rfft(speech.samples * np.hanning(len(speech.samples))))
    smooth = np.convolve(spectrum, np.ones(150), "same")
    return float(np.argmax(smooth)) * speech.rate_hz / len(speech.samples)


def test_a_formant_moves_where_the_formula_says() -> None:
    before, coefficient = 1_000.0, 0.8
    angle = 2 * np.pi * before / 16_000
    expected_hz = angle**coefficient * 16_000 / (2 * np.pi)
    assert strongest_hz(bend(vowel((before,)), coefficient)) == pytest.approx(expected_hz, rel=0.06)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
@pytest.mark.parametrize("assign", ["utterance", "speaker"])
def test_time_and_loudness_stay_and_the_signal_differs(rate_hz: int, assign: str) -> None:
    speech = vowel((700, 1_200, 2_500), rate_hz)
    words = (Word(0, 5, 0.2, 0.8, 1.0),)
    voiced = McAdams(assign=assign).transform(utterance("u", "s"), speech, words, SECRET)  # type: ignore[arg-type]
    assert voiced.words == words and voiced.speech.rate_hz == 16_000
    assert voiced.speech.duration_s == pytest.approx(speech.duration_s, abs=1e-3)
    assert level(voiced.speech.samples) == pytest.approx(level(speech.samples), rel=0.02)
    if rate_hz == 16_000:
        assert level(voiced.speech.samples - speech.samples) > 0.3 * level(speech.samples)


@settings(max_examples=15, deadline=None)
@given(st.integers(1_600, 20_000), st.floats(0.001, 1.0), st.floats(0.5, 1.4), st.integers(0, 2**32 - 1))
def test_any_signal_stays_finite_and_never_clips(length: int, loudness: float, coefficient: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = rng.uniform(-1, 1, length) * loudness * (rng.random(length) < rng.random())
    changed = bend(Speech(samples.astype(np.float32), 16_000), coefficient).samples
    assert len(changed) == length and np.isfinite(changed).all() and np.max(np.abs(changed)) <= 1


def test_the_draw_is_keyed_per_speaker_or_per_utterance() -> None:
    speech = vowel((700, 1_200))

    def heard(assign: str, name: str, speaker: str | None, secret: Secret = SECRET) -> bytes:
        member = McAdams(assign=assign)  # type: ignore[arg-type]
        return member.transform(utterance(name, speaker), speech, (), secret).speech.samples.tobytes()

    assert heard("speaker", "a", "s") == heard("speaker", "b", "s")
    assert heard("speaker", "a", "s") != heard("speaker", "a", "t")
    assert heard("speaker", "a", None) != heard("speaker", "b", None)
    assert heard("utterance", "a", "s") == heard("utterance", "a", "s")
    assert heard("utterance", "a", "s") != heard("utterance", "b", "s")
    assert heard("utterance", "a", "s") != heard("utterance", "a", "s", Secret(b"another key of a run"))


@pytest.mark.parametrize("low, high", [(0.9, 1.1), (0.9, 0.8), (0.1, 0.8), (1.0, 1.0)])
def test_a_range_that_changes_nothing_or_too_much_is_a_settings_error(low: float, high: float) -> None:
    with pytest.raises(SettingsError):
        McAdams(low=low, high=high)


def test_the_ledger_says_that_an_informed_attacker_is_not_stopped() -> None:
    entry = McAdams().ledger()
    assert entry.sound is None and "informed attacker" in entry.not_protected[0]
