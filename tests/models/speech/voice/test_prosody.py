"""The dial: at 0 the lengths and shapes are the source's, at 1 they are the pool's, and level and range never pass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.speech.voice.phone_track import PhoneTrack
from sottovoce.models.speech.voice.prosody import (
    LONGEST,
    SHORTEST,
    PublicShares,
    Shared,
    mixed_lengths,
    moved,
    source_prosody,
)


def track(lengths: list[int], phones: list[int] | None = None) -> PhoneTrack:
    length = np.array(lengths)
    phone = np.array(phones if phones is not None else [1] * len(lengths))
    return PhoneTrack(phone, length, np.where(phone > 0, 0, -1), np.cumsum(length) - length, length)


@given(st.lists(st.integers(SHORTEST, 20), min_size=1, max_size=20))
def test_lengths_are_the_sources_at_0(lengths: list[int]) -> None:
    own = track(lengths)
    none = np.zeros(len(lengths))
    np.testing.assert_array_equal(mixed_lengths(own, none + 2.0, 0.0, none), lengths)


@given(st.lists(st.integers(6, 12), min_size=1, max_size=20), st.floats(1.9, 2.3))
def test_lengths_are_the_pools_at_1(lengths: list[int], log_pool: float) -> None:
    none = np.zeros(len(lengths))
    said = mixed_lengths(track(lengths), none + log_pool, 1.0, none)
    np.testing.assert_array_equal(said, np.round(np.exp(none + log_pool)))


@given(st.lists(st.integers(1, 200), min_size=1, max_size=9), st.floats(0, 1), st.floats(-5, 9))
def test_no_length_is_out_of_bounds(lengths: list[int], share: float, log_pool: float) -> None:
    none = np.zeros(len(lengths))
    said = mixed_lengths(track(lengths), none + log_pool, share, none)
    assert (said >= SHORTEST).all() and (said <= LONGEST).all()


def features(level: float, octaves: float) -> np.ndarray:
    out = np.zeros((60, 20), np.float32)
    out[:, 0] = level + np.sin(np.arange(60) / 5)
    out[:, 18] = octaves + 0.2 * np.cos(np.arange(60) / 7)
    out[:, 19] = 0.3
    return out


@pytest.mark.parametrize("level, octaves", [(3.0, 0.5), (-2.0, -0.9)])
def test_neither_level_nor_height_of_the_voice_passes(level: float, octaves: float) -> None:
    own = track([60])
    np.testing.assert_allclose(
        source_prosody(features(0.0, 0.0), own), source_prosody(features(level, octaves), own), atol=1e-4
    )


def test_prosody_read_at_its_own_frames_is_itself() -> None:
    prosody = source_prosody(features(0.0, 0.0), track([60]))
    np.testing.assert_allclose(moved(prosody, np.arange(60.0)), prosody, atol=1e-6)


def test_each_part_of_the_prosody_has_a_share_of_its_own() -> None:
    own, lengths = track([20, 40]), np.array([20, 40])
    prosody, pooled = np.full((60, 3), 1.0, np.float32), np.zeros((60, 3), np.float32)
    for shares, told in (
        (PublicShares(), (0, 0, 0)),
        (PublicShares(rhythm=0.0), (0, 0, 0)),
        (PublicShares(loudness=0.25), (0.75, 0, 0)),
        (PublicShares(melody=0.5), (0, 0.5, 0.5)),
    ):
        np.testing.assert_allclose(Shared(prosody, shares).told(own, pooled), np.tile(told, (60, 1)))
        said = Shared(prosody, shares).lengths(own, np.log([30.0, 30.0]), np.zeros(2))
        assert list(said) == (list(lengths) if shares.rhythm == 0 else [30, 30])
