"""Departures: what a speaker does throughout does not pass, what one sound does otherwise than the next of its kind does."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.models.speech.voice import phone_network
from sottovoce.models.speech.voice.departures import CLASS_OF, Departures, centred
from sottovoce.models.speech.voice.phone_track import NUMBER, SILENCE, PhoneTrack
from sottovoce.models.speech.voice.pool import PHONES, VOICE_DIMENSION

SOUNDS = ["SIL", "P", "EY", "T", "IY", "N", "AE", "M", "SIL", "S", "IH", "K", "S", "SIL"]


@pytest.fixture(scope="module")
def network() -> phone_network.PhoneNetwork:
    return phone_network.load()


def track(lengths: np.ndarray) -> PhoneTrack:
    phone = np.array([NUMBER[sound] for sound in SOUNDS])
    word = np.where(phone == SILENCE, -1, np.arange(len(phone)) // 4)
    return PhoneTrack(phone, lengths, word, np.cumsum(lengths) - lengths, lengths)


def departures(network: phone_network.PhoneNetwork, own: PhoneTrack, prosody: np.ndarray) -> Departures:
    return Departures.of(network, np.zeros(VOICE_DIMENSION, np.float32), prosody, own)


def prosody(frames: int) -> np.ndarray:
    return np.random.default_rng(3).uniform(0, 1, (frames, 3)).astype(np.float32)


def test_every_phone_is_of_one_class() -> None:
    assert (CLASS_OF[1:] >= 0).all() and len(CLASS_OF) == len(PHONES)


def test_what_all_sounds_of_a_kind_have_in_common_does_not_pass() -> None:
    phone = np.array([NUMBER[sound] for sound in SOUNDS])
    own = np.random.default_rng(1).standard_normal((len(phone), 2))
    habit = np.random.default_rng(2).standard_normal((CLASS_OF.max() + 1, 2))[CLASS_OF[phone]]
    np.testing.assert_allclose(centred(own, phone), centred(own + habit, phone), atol=1e-12)
    assert not centred(own, phone)[phone == SILENCE].any()


def test_who_speaks_slower_throughout_is_given_the_same_lengths(network: phone_network.PhoneNetwork) -> None:
    quick, nothing = np.full(len(SOUNDS), 8), np.zeros(len(SOUNDS))
    found = [
        departures(network, track(own), prosody(own.sum())).lengths(track(own), nothing + 2, nothing)
        for own in (quick, 2 * quick)
    ]
    np.testing.assert_array_equal(*found)


def test_one_drawn_out_sound_stays_drawn_out(network: phone_network.PhoneNetwork) -> None:
    even, nothing = np.full(len(SOUNDS), 8), np.zeros(len(SOUNDS))
    uneven = np.where(np.arange(len(SOUNDS)) == 4, 16, even)
    plain, drawn = (
        departures(network, track(own), prosody(own.sum())).lengths(track(own), nothing + 2, nothing)
        for own in (even, uneven)
    )
    assert drawn[4] > plain[4]


def test_a_louder_kind_of_sound_and_all_of_the_pitch_are_not_told(network: phone_network.PhoneNetwork) -> None:
    own = track(np.full(len(SOUNDS), 8))
    plain, pooled = prosody(own.frames), np.zeros((own.frames, 3), np.float32)
    vowels = np.isin(own.phone[own.owner], [NUMBER[sound] for sound in ("EY", "IY", "IH")])
    habit = plain + np.stack([0.3 * vowels, np.sin(np.arange(own.frames)), 0 * vowels], axis=1).astype(np.float32)
    one, two = (departures(network, own, source).told(own, pooled) for source in (plain, habit))
    np.testing.assert_allclose(one, two, atol=1e-5)
    assert np.abs(one[:, 0]).max() > 0.1 and not one[:, 1].any()
