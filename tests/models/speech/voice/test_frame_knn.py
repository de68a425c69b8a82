"""frame_knn: the spectra that come out are public speakers'; time is kept; everything is keyed by the secret."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance, Word
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.audio_refusals import AudioNotFinite
from sottovoce.models.speech.voice import frame_pool
from sottovoce.models.speech.voice.frame_knn import FrameKnn, _drawn, _replaced

pytestmark = pytest.mark.slow

SECRET, OTHER = Secret(b"sixteen bytes or more"), Secret(b"another key of a run")
WORDS = (Word(0, 5, 0.1, 0.9, 1.0),)


def recording(rate_hz: int = 16_000, seconds: float = 1.2) -> Speech:
    time = np.arange(int(seconds * rate_hz)) / rate_hz
    phase = 2 * np.pi * np.cumsum(130 * (1 + 0.1 * np.sin(3 * time))) / rate_hz
    sound = sum(np.sin(k * phase) / k for k in range(1, 12)) * (1.2 + np.sin(9 * time))
    return Speech((0.05 * sound / level(sound)).astype(np.float32), rate_hz)


def utterance(name: str = "u") -> Utterance:
    return Utterance(name, "d", 0, "hello", Source("f", 1), speaker_id="s")


@pytest.fixture(scope="module")
def voice() -> FrameKnn:
    member = FrameKnn()
    member.setup()
    return member


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
def test_time_words_and_loudness_stay(voice: FrameKnn, rate_hz: int) -> None:
    speech = recording(rate_hz)
    voiced = voice.transform(utterance(), speech, WORDS, SECRET)
    assert voiced.words == WORDS and not voiced.unsaid
    assert voiced.speech.duration_s == pytest.approx(speech.duration_s, abs=0.001)
    assert level(voiced.speech.samples) == pytest.approx(level(speech.samples), rel=0.05)
    assert np.max(np.abs(voiced.speech.samples)) <= 1


def test_the_target_hangs_on_secret_and_utterance_alone(voice: FrameKnn) -> None:
    def said(name: str, secret: Secret) -> np.ndarray:
        return voice.transform(utterance(name), recording(), (), secret).speech.samples

    first = said("u", SECRET)
    np.testing.assert_array_equal(first, said("u", SECRET))
    assert np.abs(first - said("v", SECRET)).max() > 0.01 and np.abs(first - said("u", OTHER)).max() > 0.01


def test_whatever_is_asked_for_the_answer_is_a_mean_of_pool_frames() -> None:
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(3, 50, 17))
    strange = 100 + rng.normal(size=(9, 17))  # no pool speaker sounds like this, so nothing that comes out may
    assert (_replaced(strange, pool, 4) <= pool.max(axis=(0, 1))).all()


def test_one_gender_is_drawn_and_never_one_speaker_alone() -> None:
    shipped = frame_pool.load()
    for seed in range(20):
        chosen = _drawn(shipped, 8, np.random.default_rng(seed))
        assert len(set(chosen.tolist())) == 8 and len(set(shipped.gender[chosen].tolist())) == 1
    with pytest.raises(SettingsError, match="real person"):
        FrameKnn(speakers=1)


def test_what_is_no_number_or_no_pool_is_refused(voice: FrameKnn, tmp_path: Path) -> None:
    spoiled = recording()
    spoiled.samples[5] = np.nan
    with pytest.raises(AudioNotFinite):
        voice.transform(utterance(), spoiled, (), SECRET)
    with pytest.raises(CorpusError, match=r"frames\.npz"):
        FrameKnn(pool=str(tmp_path)).setup()


def test_the_ledger_says_that_it_is_weaker(voice: FrameKnn) -> None:
    assert "WEAKER THAN phonetic" in " ".join(voice.ledger().not_protected)
