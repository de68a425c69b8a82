"""Slices are long enough, end on word borders, hold each kept word once, and carry nothing of masked words."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.records import Span, Word
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.masked_words import MaskedWords, mark
from sottovoce.models.speech.slice import NothingLeft, Slicer

RATE_HZ = 1_000


def utterance(lengths_s: list[float], pauses_s: list[float]) -> tuple[Speech, str, tuple[Word, ...]]:
    """Word k sounds as the constant k + 1 (in hundredths), pauses as noise far below."""
    words, text, samples = [], "", [np.full(300, 1e-4)]
    at_s = 0.3
    for index, (length_s, pause_s) in enumerate(zip(lengths_s, pauses_s, strict=True)):
        token = f"w{index}"
        words.append(Word(len(text), len(text) + len(token), at_s, at_s + length_s, 1.0))
        text += token + ", "
        samples += [np.full(round(length_s * RATE_HZ), (index + 1) / 100), np.full(round(pause_s * RATE_HZ), 1e-4)]
        at_s += length_s + pause_s
    return Speech(np.concatenate(samples).astype(np.float32), RATE_HZ), text, tuple(words)


def masked_at(text: str, words: tuple[Word, ...], indices: set[int]) -> MaskedWords:
    return mark(text, [Span(words[i].begin, words[i].end, "NAME") for i in sorted(indices)], words)


tenths = st.integers(1, 12).map(lambda n: n / 10)
many = st.lists(st.tuples(tenths, st.integers(0, 6).map(lambda n: n / 10)), min_size=1, max_size=25)


@settings(max_examples=150, deadline=None)
@given(
    many,
    st.sets(st.integers(0, 24)),
    st.sampled_from([0.5, 1.5, 3.0]),
    st.booleans(),
    st.sampled_from(["join", "drop"]),
    st.integers(0, 3),
)
def test_laws_of_slicing(
    pairs: list, chosen: set[int], delta_s: float, cross: bool, remainder: str, dropped: int
) -> None:
    speech, text, words = utterance([p[0] for p in pairs], [p[1] for p in pairs])
    masked = masked_at(text, words, {index for index in chosen if index < len(words)})
    slicer = Slicer(delta_s, remainder, cross, dropped)  # type: ignore[arg-type]
    groups = slicer.groups(words, masked)
    used = [i for first, last in groups for i in range(first, last + 1)]
    assert len(used) == len(set(used))
    assert not masked.indices & {edge for group in groups for edge in group}
    if remainder == "drop":
        assert all(words[last].end_s - words[first].begin_s >= delta_s for first, last in groups)
    elif not dropped:
        assert set(used) | masked.indices == set(range(len(words)))
    for (_, last), (first, _) in itertools.pairwise(groups):
        between = set(range(last + 1, first))
        assert len(between - masked.indices) == dropped or (not cross and between & masked.indices)
    if not cross:
        assert not set(used) & masked.indices
    try:
        slices = slicer.cut(speech, text, words, masked)
    except NothingLeft:
        assert not groups
        return
    spoken = [token.strip(",") for piece in slices for token in piece.text.split()]
    assert spoken == [f"w{index}" for index in used if index not in masked.indices]


def test_edges_have_one_fixed_pad_whatever_the_pause_was() -> None:
    speech, text, words = utterance([2.0, 2.0, 2.0], [0.0, 1.0, 0.7])
    slices = Slicer(min_seconds=1.5, level_db=None).cut(speech, text, words, masked_at(text, words, set()))
    assert [piece.speech.duration_s for piece in slices] == pytest.approx([2.2, 2.2, 2.2], abs=0.003)
    for piece in slices:
        assert np.max(np.abs(piece.speech.samples[:98])) < 1e-3 and np.max(np.abs(piece.speech.samples[-98:])) < 1e-3


def test_a_slice_does_not_tell_how_long_the_pause_before_it_was_nor_what_was_said_there() -> None:
    heard = []
    for first_s, pause_s in ((2.0, 0.0), (1.7, 0.08), (2.4, 0.6)):
        speech, text, words = utterance([first_s, 2.0], [pause_s, 0.3])
        heard.append(Slicer(min_seconds=1.5).cut(speech, text, words, masked_at(text, words, set()))[1].speech.samples)
    assert np.array_equal(heard[0], heard[1]) and np.array_equal(heard[0], heard[2])


def test_no_sample_of_a_neighbour_is_in_a_slice() -> None:
    speech, text, words = utterance([1.0] * 6, [0.1] * 6)
    slices = Slicer(min_seconds=1.9, level_db=None).cut(speech, text, words, masked_at(text, words, set()))
    faded_in = 105  # samples of pad and fade
    heard = [set(np.round(piece.speech.samples[faded_in:] * 100).astype(int)) - {0} for piece in slices]
    assert heard == [{1, 2}, {3, 4}, {5, 6}]


def test_all_slices_have_one_level() -> None:
    speech, text, words = utterance([1.0] * 6, [0.1] * 6)
    slices = Slicer(min_seconds=1.9, level_db=-30.0).cut(speech, text, words, masked_at(text, words, set()))
    assert [level(piece.speech.samples) for piece in slices] == pytest.approx([10**-1.5] * 3, rel=1e-3)


def test_masked_words_at_the_edges_leave_not_even_their_length() -> None:
    speech, text, words = utterance([1.0, 1.0, 1.0, 1.0], [0.1] * 4)
    (piece,) = Slicer(level_db=None).cut(speech, text, words, masked_at(text, words, {0, 3}))
    assert piece.text == "w1, w2," and piece.speech.duration_s == pytest.approx(2.3, abs=0.003)


def test_an_utterance_that_is_all_masked_is_refused() -> None:
    speech, text, words = utterance([1.0], [0.1])
    with pytest.raises(NothingLeft):
        Slicer().cut(speech, text, words, masked_at(text, words, {0}))


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"min_seconds": 0.0}, {"drop_words": -1}, {"pad_s": 2.0}, {"level_db": 5.0}):
        with pytest.raises(SettingsError):
            Slicer(**wrong)
