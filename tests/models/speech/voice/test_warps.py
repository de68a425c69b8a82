"""VoiceMask and VTLN move formants, keep pitch, time and loudness, and say what they do not stop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance, Word
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.voice.voicemask import VoiceMask
from sottovoce.models.speech.voice.vtln import Targets, Vtln, build_targets, class_spectra
from sottovoce.models.speech.voice.warp import ANGLES, bilinear, quadratic, warped

SECRET = Secret(b"sixteen bytes or more")
MEMBERS = ["voicemask", "vtln"]


def vowel(formants_hz: tuple[float, ...], rate_hz: int = 16_000, f0_hz: int = 125, seconds: float = 1.0) -> Speech:
    from scipy.signal import lfilter

    samples = np.zeros(int(rate_hz * seconds))
    samples[:: rate_hz // f0_hz] = 1.0
    for formant_hz in formants_hz:
        radius = np.exp(-np.pi * 90 / rate_hz)
        samples = lfilter([1.0], [1, -2 * radius * np.cos(2 * np.pi * formant_hz / rate_hz), radius**2], samples)
    return Speech((0.1 * samples / level(samples)).astype(np.float32), rate_hz)


def utterance(name: str = "u", speaker: str | None = "s") -> Utterance:
    return Utterance(name, "d", 0, "hello", Source("f", 1), speaker_id=speaker)


def strongest_hz(speech: Speech) -> float:
    spectrum = np.abs(np.fft.rfft(speech.samples * np.hanning(len(speech.samples))))
    smooth = np.convolve(spectrum, np.ones(260), "same")
    return float(np.argmax(smooth)) * speech.rate_hz / len(speech.samples)


def member(name: str, **options: object):
    made = read_spec("voice", {"use": name, **options}).make()
    made.setup()
    return made


@given(st.floats(-0.3, 0.3), st.floats(-2, 2))
def test_every_warp_is_increasing_and_keeps_both_ends(alpha: float, beta: float) -> None:
    both = quadratic(bilinear(ANGLES, alpha), beta)
    assert both[0] == pytest.approx(0, abs=1e-9) and both[-1] == pytest.approx(np.pi, abs=1e-9)
    assert (np.diff(both) > 0).all()


@pytest.mark.parametrize("alpha", [-0.12, 0.12])
def test_a_formant_moves_where_the_formula_says_and_the_pitch_stays(alpha: float) -> None:
    from sottovoce.models.speech.melody import log_f0

    source = vowel((1_500,))
    changed = warped(source, bilinear(ANGLES, alpha))
    expected_hz = float(np.interp(1_500 * np.pi / 8_000, bilinear(ANGLES, alpha), ANGLES)) * 8_000 / np.pi
    assert strongest_hz(changed) == pytest.approx(expected_hz, rel=0.06)
    assert np.nanmedian(log_f0(changed)) == pytest.approx(np.nanmedian(log_f0(source)), abs=0.03)


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
def test_time_and_loudness_stay_and_the_signal_differs(name: str, rate_hz: int) -> None:
    speech, words = vowel((700, 1_200, 2_500), rate_hz), (Word(0, 5, 0.2, 0.8, 1.0),)
    voiced = member(name).transform(utterance(), speech, words, SECRET)
    assert voiced.words == words and voiced.speech.rate_hz == 16_000
    assert voiced.speech.duration_s == pytest.approx(speech.duration_s, abs=1e-3)
    assert level(voiced.speech.samples) == pytest.approx(level(speech.samples), rel=0.02)
    if rate_hz == 16_000:
        assert level(voiced.speech.samples - speech.samples) > 0.1 * level(speech.samples)


@pytest.mark.parametrize("name", MEMBERS)
def test_the_draw_is_keyed_per_speaker_or_per_utterance(name: str) -> None:
    speech = vowel((700, 1_200, 2_600))

    def heard(assign: str, utterance_id: str, speaker: str | None, secret: Secret = SECRET) -> bytes:
        made = member(name, assign=assign)
        return made.transform(utterance(utterance_id, speaker), speech, (), secret).speech.samples.tobytes()

    assert heard("speaker", "a", "s") == heard("speaker", "b", "s") != heard("speaker", "a", "t")
    assert heard("utterance", "a", "s") == heard("utterance", "a", "s") != heard("utterance", "b", "s")
    assert heard("utterance", "a", "s") != heard("utterance", "a", "s", Secret(b"another key of a run"))


@settings(max_examples=12)
@given(st.integers(1_600, 20_000), st.floats(0.001, 1.0), st.integers(0, 2**32 - 1), st.sampled_from(MEMBERS))
def test_any_signal_stays_finite_and_never_clips(length: int, loudness: float, seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    samples = (rng.uniform(-1, 1, length) * loudness * (rng.random(length) < rng.random())).astype(np.float32)
    changed = member(name).transform(utterance(), Speech(samples, 16_000), (), SECRET).speech.samples
    assert len(changed) == length and np.isfinite(changed).all() and np.max(np.abs(changed)) <= 1


def test_vtln_finds_the_warp_that_leads_to_the_target() -> None:
    voices = [vowel(formants) for formants in ((600, 1_100, 2_500), (300, 2_200, 2_900), (400, 800, 2_300))]
    targets = build_targets(voices, classes=2)
    made = Vtln()
    made._loaded["targets"] = Targets(targets["codebook"].astype(float), targets["spectra"].astype(float))
    moved = warped(voices[0], bilinear(ANGLES, 0.1))
    found = made.fit([voices[0]], class_spectra([moved], made._loaded["targets"].codebook))
    assert found[np.argmax(np.abs(found))] == pytest.approx(0.1, abs=0.03)


def test_options_out_of_range_and_absent_targets_are_named(tmp_path) -> None:
    with pytest.raises(SettingsError, match="alpha_low"):
        VoiceMask(alpha_low=0.0)
    with pytest.raises(SettingsError, match="strength"):
        Vtln(strength=0.0)
    with pytest.raises(RunError, match="no VTLN targets"):
        member("vtln", targets=str(tmp_path / "absent.npz"))


@pytest.mark.parametrize("name", MEMBERS)
def test_the_ledger_says_that_no_attacker_is_stopped(name: str) -> None:
    entry = member(name).ledger()
    assert entry.sound is None and "automatic attacker" in entry.not_protected[0]
