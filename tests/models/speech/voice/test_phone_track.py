"""A track has no gaps, forgets nothing it should know, and knows nothing of words that must not be said."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.voice.phone_track import (
    FRAME_INPUTS,
    SEGMENT_INPUTS,
    SILENCE,
    PhoneTrack,
    frame_inputs,
    repaused,
    segment_inputs,
    track_of,
    without_words,
)
from sottovoce.models.speech.voice.pool import PHONES


@st.composite
def aligned(draw: st.DrawFn) -> tuple[list[Word], int]:
    """Words with phones and pauses of whole frames, and the number of frames of the recording."""
    at, words = draw(st.integers(0, 30)), []
    for number in range(draw(st.integers(1, 6))):
        phones = []
        for _ in range(draw(st.integers(1, 5))):
            end = at + draw(st.integers(1, 25))
            phones.append(Phone(draw(st.sampled_from(PHONES[1:])), at / 100, end / 100))
            at = end
        words.append(Word(number, number + 1, phones[0].begin_s, phones[-1].end_s, 1.0, tuple(phones)))
        at += draw(st.sampled_from([0, 0, 2, 10, 40]))
    return words, at + draw(st.integers(2, 40))


@given(aligned())
def test_every_frame_has_one_segment_and_every_word_its_phones(case: tuple[list[Word], int]) -> None:
    words, frames = case
    track = track_of(words, frames)
    assert track.frames == frames and (track.length > 0).all()
    for index, word in enumerate(words):
        own = [PHONES[number] for number in track.phone[track.word == index]]
        assert own == [phone.label for phone in word.phones]
    assert frame_inputs(track).shape == (frames, FRAME_INPUTS)
    assert segment_inputs(track).shape == (len(track.phone), SEGMENT_INPUTS)


@given(aligned(), st.data())
def test_words_left_out_are_one_silence_of_fixed_length(case: tuple[list[Word], int], data: st.DataObject) -> None:
    words, frames = case
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    gone = set(range(first, last + 1))
    track = without_words(track_of(words, frames), gone, 30)
    silent = track.left_out
    assert track.length[silent].sum() == 30 and (track.phone[silent] == SILENCE).all()
    assert set(track.word[silent]) == gone and not np.isin(track.word[~silent], list(gone)).any()


@given(aligned(), st.data())
def test_what_is_left_does_not_depend_on_the_phones_of_a_word_left_out(
    case: tuple[list[Word], int], data: st.DataObject
) -> None:
    words, frames = case
    index = data.draw(st.integers(0, len(words) - 1))
    word = words[index]
    other = Word(word.begin, word.end, word.begin_s, word.end_s, 1.0, (Phone("AA", word.begin_s, word.end_s),))
    one, two = (
        without_words(track_of(each, frames), {index}, 30)
        for each in (words, [*words[:index], other, *words[index + 1 :]])
    )
    np.testing.assert_array_equal(frame_inputs(one), frame_inputs(two))


@given(aligned(), st.integers(1, 3))
def test_positions_in_the_source_run_through_each_segment(case: tuple[list[Word], int], factor: int) -> None:
    words, frames = case
    track = track_of(words, frames)
    stretched = track.with_lengths(track.length * factor)
    positions = stretched.source_positions()
    assert len(positions) == frames * factor and (np.diff(positions) > 0).all()
    assert positions[0] >= -0.5 and positions[-1] <= frames - 0.5


@given(aligned(), st.integers(0, 2**32 - 1))
def test_where_the_source_paused_is_forgotten(case: tuple[list[Word], int], seed: int) -> None:
    words, frames = case
    without_gaps = track_of(words, frames)
    said = without_gaps.word >= 0
    tight = PhoneTrack(*(getattr(without_gaps, f.name)[said] for f in fields(PhoneTrack)))
    for share, same in ((1.0, True), (0.0, False)):
        one, two = (repaused(track, share, 0.3, np.random.default_rng(seed)) for track in (without_gaps, tight))
        assert list(one.phone[one.word >= 0]) == list(without_gaps.phone[said])
        if same:
            assert list(one.phone) == list(two.phone) and list(one.word) == list(two.word)
        else:
            assert list(two.phone) == [SILENCE, *tight.phone, SILENCE]


@given(aligned(), st.data())
def test_no_pause_is_drawn_beside_words_left_out_or_inside_a_word(
    case: tuple[list[Word], int], data: st.DataObject
) -> None:
    words, frames = case
    indices = data.draw(st.sets(st.integers(0, len(words) - 1)))
    track = repaused(without_words(track_of(words, frames), indices, 30), 1.0, 1.0, np.random.default_rng(0))
    for at in np.flatnonzero(track.word < 0)[1:-1]:
        assert track.word[at - 1] != track.word[at + 1]
        assert not {int(track.word[at - 1]), int(track.word[at + 1])} & indices
