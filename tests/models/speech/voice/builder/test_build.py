"""A build makes a pool that speaks, leaves out whom it is told to, and goes on from an earlier network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.voice import phone_network, pool, public_sounds
from sottovoce.models.speech.voice.builder.build import build, sounds_for
from sottovoce.models.speech.voice.builder.examples import Heard, example_of
from sottovoce.models.speech.voice.builder.frames import frames_of
from sottovoce.models.speech.voice.builder.speakers import gender_by_pitch, log_f0_quantiles
from sottovoce.models.speech.voice.opus_features import pitch_of
from sottovoce.models.speech.voice.phone_track import FRAME_INPUTS

torch = pytest.importorskip("torch")
from sottovoce.models.speech.voice.builder.batches import set_aside  # noqa: E402
from sottovoce.models.speech.voice.builder.training import TrainedStack, VoiceTraining  # noqa: E402

pytestmark = pytest.mark.slow

TINY = VoiceTraining(steps=2, batch=2, crop=32, width=8, prosody_width=8, duration_width=8)


def heard(speaker: str, hertz: float, gender: str = "") -> Heard:
    rng = np.random.default_rng(len(speaker))
    features = rng.normal(0, 1, (140, 20)).astype(np.float32)
    features[:, 18], features[:, 19] = pitch_of(np.log(hertz)), 0.3
    labels = ("HH", "AH", "L", "OW")
    phones = tuple(Phone(label, 0.3 + 0.2 * i, 0.5 + 0.2 * i) for i, label in enumerate(labels))
    return Heard(f"{speaker}-1", speaker, gender, features, (Word(0, 5, 0.3, 1.1, 1.0, phones),), rng.normal(size=6))


CORPUS = [heard("a", 110), heard("b", 210), heard("c", 120, "m"), heard("d", 205, "f"), heard("e", 115)]


def test_a_pool_holds_everybody_but_the_excluded(tmp_path: Path) -> None:
    lines: list[str] = []
    build(CORPUS, tmp_path, TINY, lines.append, exclude={"e"})
    made = pool.load(tmp_path)
    assert made.speaker.tolist() == ["a", "b", "c", "d"] and made.gender.tolist() == ["m", "f", "m", "f"]
    assert made.embedding.shape == (4, 6) and np.isfinite(made.voice).all()
    np.testing.assert_allclose(np.exp(made.log_f0_quantiles[:, 10]), [110, 210, 120, 205], rtol=0.01)
    network = phone_network.load(tmp_path)
    assert network.spectrum(np.zeros((5, FRAME_INPUTS + 4), np.float32), np.zeros((5, 24), np.float32)).shape == (5, 18)
    again = tmp_path / "again"
    build(CORPUS, again, TINY, lines.append, start=tmp_path)
    np.testing.assert_allclose(pool.load(again).voice[:4], made.voice, atol=0.05)
    assert len(pool.load(again)) == 5


def test_sounds_carry_the_phones_heard_in_them_where_all_of_them_were_heard_so(tmp_path: Path) -> None:
    build(CORPUS, tmp_path, TINY, print)
    assert public_sounds.load(tmp_path).heard is None
    phones = np.arange(40, dtype=np.uint8) * np.ones((140, 1), np.uint8)
    count = sounds_for(tmp_path, [replace(item, phones=phones) for item in CORPUS])
    told = public_sounds.load(tmp_path, "phones").heard
    assert count == 20 and told is not None
    np.testing.assert_array_equal(told, np.broadcast_to(phones[0], (20, 3, 40)))
    assert sounds_for(tmp_path, [*CORPUS[1:], replace(CORPUS[0], phones=phones)]) == 20
    assert public_sounds.load(tmp_path).heard is None


def test_too_few_speakers_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="at least 4"):
        build(CORPUS, tmp_path, TINY, print, exclude={"a", "b"})


def test_the_network_says_the_same_in_torch_and_in_numpy() -> None:
    torch.manual_seed(0)
    trained = TrainedStack(7, 12, 3).eval()
    arrays = {name.split(".", 1)[1]: array for name, array in trained.arrays("x").items()}
    x, voice = np.random.default_rng(0).normal(size=(2, 20, 24)).astype(np.float32)
    with torch.no_grad():
        expected = trained(torch.from_numpy(x[:, :7].T.copy())[None], torch.from_numpy(voice[:1]))[0].numpy().T
    np.testing.assert_allclose(phone_network.Stack(arrays)(x[:, :7], np.repeat(voice[:1], 20, 0)), expected, atol=1e-5)


def test_frames_are_those_of_the_longest_utterances_of_each_gender() -> None:
    def long(speaker: str, frames: int) -> list:
        whole = heard(speaker, 110)
        features = np.tile(whole.features, (frames // 140 + 1, 1))[:frames]
        return [example_of(Heard("u", speaker, "", features, whole.words), 0)]

    rows = np.zeros((4, 0)), np.zeros((4, 24)), np.zeros((4, 21)), np.zeros((4, 40))
    made = pool.Pool(np.array(list("abcd")), np.array(["f", "m", "m", "f"]), *rows)
    frames = frames_of([long("a", 1300), long("b", 1200), long("c", 300), long("d", 1400)], made)
    assert frames is not None and frames.gender.tolist() == ["f", "f", "m"] and frames.frames.shape == (3, 1200, 17)
    assert abs(frames.frames.mean()) < 0.5 and frames_of([long("a", 200)] * 4, made) is None


def test_nothing_is_learnt_from_a_word_that_does_not_fit() -> None:
    whole = heard("a", 110)
    doubtful = Heard("u", "a", "", whole.features, (Word(0, 5, 0.3, 1.1, 0.001, whole.words[0].phones),))
    assert not example_of(doubtful, 0).trusted[1:-1].any() and example_of(whole, 0).trusted.all()


def test_gender_is_told_from_the_pitch() -> None:
    for hertz, gender in ((105, "m"), (215, "f")):
        quantiles = log_f0_quantiles([example_of(heard("a", hertz), 0)])
        assert quantiles is not None and gender_by_pitch(quantiles) == gender


def test_one_in_so_many_utterances_of_a_speaker_is_set_aside_and_who_says_little_keeps_all() -> None:
    talkative, quiet = ([example_of(heard("a", 110), speaker)] * count for speaker, count in ((0, 20), (1, 3)))
    learnt, aside = set_aside(talkative + quiet, 8)
    assert [example.speaker for example in aside] == [0, 0] and len(learnt) == 21
    assert set_aside(talkative, 0) == (talkative, [])


def test_the_weights_that_are_kept_are_a_mean_over_the_steps(tmp_path: Path) -> None:
    """With no memory they are those of the last step; either way the log says how utterances fare that nobody learnt from."""
    lines: list[str] = []
    corpus = CORPUS + [heard("b", 210)] * 3
    for memory in (0.0, 0.9):
        options = replace(TINY, memory=memory, held_out=4, steps=30)
        build(corpus, tmp_path / str(memory), options, lines.append)
    last, mean = (pool.load(tmp_path / str(memory)).voice for memory in (0.0, 0.9))
    assert 0 < np.abs(last - mean).max() < 0.1
    assert lines[-1].startswith("step 30: ") and "held out, by the mean voice: spectrum " in lines[-1]


def test_a_build_can_be_made_again_to_the_bit(tmp_path: Path) -> None:
    for name in ("once", "again"):
        build(CORPUS, tmp_path / name, TINY, lambda line: None)
    for file in ("network.npz", "pool.npz"):
        with np.load(tmp_path / "once" / file) as once, np.load(tmp_path / "again" / file) as again:
            for key in once:
                np.testing.assert_array_equal(once[key], again[key])
