"""Whatever is put in, a voice gives something else or refuses: over the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError, Refusal, RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Phone, Source, Utterance, Word
from sottovoce.models.settings import Spec, table
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.chain import VoiceUnchanged, refuse_if_unchanged
from sottovoce.models.speech.voice import BACKGROUND_VOICES

SECRET = Secret(b"sixteen bytes or more")
RATE_HZ = 16_000
pytestmark = pytest.mark.slow
TIMES_S = np.arange(2 * RATE_HZ) / RATE_HZ


def voice() -> np.ndarray:
    from scipy.signal import lfilter

    pulses = np.zeros(len(TIMES_S))
    pulses[::128] = 1.0
    return lfilter([1.0], [1, -1.6, 0.81], lfilter([1.0], [1, -0.9, 0.7], pulses))


SIGNALS: dict[str, Callable[[], np.ndarray]] = {
    "a voice": voice,
    "a clipped voice": lambda: np.clip(20 * voice(), -1, 1),
    "a pure tone": lambda: np.sin(2 * np.pi * 440 * TIMES_S),
    "music": lambda: np.sum([np.sin(2 * np.pi * f * TIMES_S) * np.exp(-TIMES_S) for f in (262, 330, 392)], axis=0),
    "noise": lambda: np.random.default_rng(0).normal(0, 1, len(TIMES_S)),
    "almost silence": lambda: 1e-5 * np.random.default_rng(0).normal(0, 1, len(TIMES_S)),
    "a tenth of a second": lambda: voice()[: RATE_HZ // 10],
    "a voice and an infinity of zeros": lambda: np.where(TIMES_S < 0.3, voice(), 0.0),
}


# speecht5 would ask the hub for its weights; test_speecht5.py runs it with tiny ones.
@pytest.fixture(scope="module", params=sorted(set(table("voice")) - {"speecht5"}))
def member(request):
    try:
        made = Spec("voice", request.param).make()
        made.setup()
    except (RunError, CorpusError) as missing:
        pytest.skip(f"{request.param} needs weights that are not here ({type(missing).__name__})")
    return made


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("rate_hz", [RATE_HZ, 8_000])
def test_what_comes_out_is_new_finite_and_in_range_or_is_refused(member, name: str, rate_hz: int) -> None:
    samples = SIGNALS[name]()[:: RATE_HZ // rate_hz]
    speech = Speech((0.5 * samples / np.max(np.abs(samples))).astype(np.float32), rate_hz)
    end_s = speech.duration_s
    phones = tuple(
        Phone(label, end_s * at / 4, end_s * (at + 1) / 4) for at, label in enumerate(("HH", "AH", "L", "OW"))
    )
    words = (Word(0, 5, 0.0, end_s, 1.0, phones),)
    utterance = Utterance("u", "d", 0, "hello", Source("f", 1), speaker_id="s", gender="f")
    try:
        voiced = member.transform(utterance, speech, words, SECRET)
        refuse_if_unchanged(speech, voiced.speech)
    except Refusal:
        return
    assert voiced.speech.rate_hz == 16_000 and len(voiced.speech.samples) > 0
    assert np.isfinite(voiced.speech.samples).all() and np.max(np.abs(voiced.speech.samples)) <= 1


def test_what_a_voice_in_a_pause_says_is_silenced_or_the_ledger_says_that_it_stays(member) -> None:
    """Half a second of speech that is written down, a second of another voice that is not."""
    samples = np.concatenate([voice()[: RATE_HZ // 2], np.zeros(RATE_HZ // 4), voice()[:RATE_HZ]])
    speech = Speech((0.3 * samples / np.max(np.abs(samples))).astype(np.float32), RATE_HZ)
    labels = ("HH", "AH", "L", "OW")
    phones = tuple(Phone(label, 0.125 * at, 0.125 * (at + 1)) for at, label in enumerate(labels))
    utterance = Utterance("u", "d", 0, "hello", Source("f", 1), speaker_id="s", gender="f")
    said = member.transform(utterance, speech, (Word(0, 5, 0.0, 0.5, 1.0, phones),), SECRET)
    (word,) = said.words
    begin, end = round(word.begin_s * RATE_HZ), round(word.end_s * RATE_HZ)
    late = said.speech.samples[end + RATE_HZ // 2 :]
    stays = level(late) > 0.1 * level(said.speech.samples[begin:end])
    assert stays == (BACKGROUND_VOICES in member.ledger().not_protected)


def test_the_guard_knows_a_copy_and_a_quieter_copy_at_another_rate() -> None:
    from sottovoce.models.speech.audio import resample

    speech = Speech((0.5 * voice() / np.max(np.abs(voice()))).astype(np.float32), RATE_HZ)
    with pytest.raises(VoiceUnchanged):
        refuse_if_unchanged(speech, speech)
    with pytest.raises(VoiceUnchanged):
        refuse_if_unchanged(resample(speech, 32_000), Speech(0.98 * speech.samples, RATE_HZ))
    refuse_if_unchanged(speech, Speech(speech.samples[::-1].copy(), RATE_HZ))
    refuse_if_unchanged(speech, Speech(speech.samples[:-400].copy(), RATE_HZ))
