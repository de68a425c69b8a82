"""Of the source's spectrum nothing passes but which public sound is nearest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.align.phone_judge import LABELS, Judge
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.voice import public_sounds
from sottovoce.models.speech.voice.opus_features import HOP
from sottovoce.models.speech.voice.phone_track import PhoneTrack
from sottovoce.models.speech.voice.public_sounds import (
    BANDS,
    PHONE_POINTS,
    POINTS,
    STEP,
    WHOLE,
    PublicSounds,
    phones_heard_in,
    resampled,
)

RNG = np.random.default_rng(0)
SHAPE = RNG.integers(-60, 60, (8, POINTS, BANDS)).astype(np.int8)
SOUNDS = PublicSounds(np.array([1] * 5 + [2] * 3), SHAPE)


def track(unheard: bool = False) -> PhoneTrack:
    """A silence, phone 1 of six frames said in twelve, phone 2 likewise."""
    source = np.array([4, 0 if unheard else 6, 6])
    return PhoneTrack(np.array([0, 1, 2]), np.array([4, 12, 12]), np.array([-1, 0, 0]), np.array([0, 4, 10]), source)


def departures(first: int, second: int, noise: float = 0.0) -> np.ndarray:
    own = np.concatenate([np.zeros((4, BANDS)), STEP * SHAPE[first], STEP * SHAPE[second]])
    return own + noise * np.random.default_rng(1).standard_normal(own.shape)


def said(own: np.ndarray, draws: int = 8, unheard: bool = False, **options: float) -> np.ndarray:
    return SOUNDS.said(track(unheard), own, draws, np.random.default_rng(2), **options)


def test_the_nearest_sound_of_the_same_phone_is_said_at_the_new_length() -> None:
    out = said(departures(3, 6))
    assert not out[:2].any()
    for begin, row in ((4, 3), (16, 6)):
        wanted = resampled(STEP * SHAPE[row].astype(float), 12)
        assert np.corrcoef(out[begin + 2 : begin + 10].ravel(), wanted[2:10].ravel())[0, 1] > 0.97


def test_another_source_with_the_same_nearest_sounds_changes_nothing() -> None:
    np.testing.assert_array_equal(said(departures(3, 6)), said(departures(3, 6, noise=0.3)))
    assert np.abs(said(departures(3, 6)) - said(departures(1, 6))).max() > 0.5


def test_with_one_draw_nothing_of_the_source_decides() -> None:
    np.testing.assert_array_equal(said(departures(3, 6), draws=1), said(departures(0, 7), draws=1))


def test_a_phone_that_the_source_never_said_has_a_sound_too() -> None:
    assert said(departures(3, 6), unheard=True)[6:14].any()


def test_half_the_depth_is_half_the_sound() -> None:
    np.testing.assert_allclose(said(departures(3, 6), depth=0.5), 0.5 * said(departures(3, 6)), atol=1e-6)


def test_with_joins_the_two_that_join_best_are_said() -> None:
    ends = STEP * SHAPE.astype(float)
    jumps = np.square(ends[:5, None, -1] - ends[None, 5:, 0]).sum(axis=2)
    first, second = np.unravel_index(jumps.argmin(), jumps.shape)
    out = said(departures(3, 6), joins=1e6)
    for begin, row in ((4, first), (16, 5 + second)):
        wanted = resampled(ends[row], 12)
        assert np.corrcoef(out[begin + 2 : begin + 10].ravel(), wanted[2:10].ravel())[0, 1] > 0.97


def test_by_phones_the_sound_in_which_the_same_is_heard_is_said_whatever_the_spectrum() -> None:
    heard = RNG.integers(0, WHOLE, (8, PHONE_POINTS, len(LABELS))).astype(np.uint8)
    sounds = PublicSounds(SOUNDS.phone, SHAPE, heard)
    own = np.concatenate([np.zeros((4, len(LABELS))), *(resampled(heard[row].astype(float), 6) for row in (2, 7))])
    out = sounds.said(track(), own, 8, np.random.default_rng(2), follow="phones")
    for begin, row in ((4, 2), (16, 7)):
        wanted = resampled(STEP * SHAPE[row].astype(float), 12)
        assert np.corrcoef(out[begin + 2 : begin + 10].ravel(), wanted[2:10].ravel())[0, 1] > 0.97


def test_neither_sound_nor_length_of_a_word_left_out_is_heard() -> None:
    """Three words of 30 frames of noise; the second is left out, once with other sound, once twice as long."""
    judge, noise = Judge(), np.random.default_rng(5).normal(0, 0.1, (4, 30 * HOP)).astype(np.float32)

    def heard(middle: list[np.ndarray]) -> np.ndarray:
        length = 30 * len(middle)
        begin = np.array([1, 31, 31 + length])  # the aligner's frames 0, 30 and so on
        gone = PhoneTrack(np.array([1, 0, 2]), np.array([30, 30, 30]), np.arange(3), begin, np.array([30, length, 30]))
        found = phones_heard_in(judge, Speech(np.concatenate([noise[0], *middle, noise[1]]), 16_000), gone)
        return np.concatenate([found[1:31], found[31 + length : 61 + length]])

    first = heard([noise[2]])
    assert first.any()
    np.testing.assert_array_equal(first, heard([noise[3]]))
    np.testing.assert_array_equal(first, heard([noise[3], noise[2]]))


def test_sounds_are_kept_in_a_file_that_cannot_run_code(tmp_path: Path) -> None:
    SOUNDS.save(tmp_path)
    np.testing.assert_array_equal(public_sounds.load(tmp_path).shape, SHAPE)
    with pytest.raises(CorpusError, match="holds no"):
        public_sounds.load(tmp_path / "none")
    with pytest.raises(CorpusError, match="damaged"):
        PublicSounds(np.array([1]), SHAPE)
    with pytest.raises(CorpusError, match="older than"):
        public_sounds.load(tmp_path, "phones")


def test_those_that_ship_know_every_phone() -> None:
    known = public_sounds.load(follow="phones").rows
    assert len(known) == 39 and min(map(len, known.values())) >= 5
