"""Of the source's spectrum nothing passes but which public sound is nearest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.voice import public_sounds
from sottovoce.models.speech.voice.phone_track import PhoneTrack
from sottovoce.models.speech.voice.public_sounds import BANDS, POINTS, STEP, PublicSounds, resampled

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


def test_with_joins_the_smoothest_of_the_drawn_sounds_follows() -> None:
    """The first sound after a silence is the nearest still; for the second the jump at the border decides."""
    ends, first = STEP * SHAPE.astype(float), 3
    second = 5 + int(np.argmin(np.square(ends[5:, 0] - ends[first, -1]).sum(axis=1)))
    out = said(departures(3, 6), joins=1e6)
    for begin, row in ((4, first), (16, second)):
        wanted = resampled(ends[row], 12)
        assert np.corrcoef(out[begin + 2 : begin + 10].ravel(), wanted[2:10].ravel())[0, 1] > 0.97


def test_sounds_are_kept_in_a_file_that_cannot_run_code(tmp_path: Path) -> None:
    SOUNDS.save(tmp_path)
    np.testing.assert_array_equal(public_sounds.load(tmp_path).shape, SHAPE)
    with pytest.raises(CorpusError, match="holds no"):
        public_sounds.load(tmp_path / "none")
    with pytest.raises(CorpusError, match="damaged"):
        PublicSounds(np.array([1]), SHAPE)


def test_those_that_ship_know_every_phone() -> None:
    known = public_sounds.load().by_phone
    assert len(known) == 39 and min(map(len, known.values())) >= 5
