"""A word that is perhaps not what is said is in no slice, neither in its sound nor in its text, nor are those beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance, Word
from sottovoce.models.settings import Spec
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.chain import SpeechChain
from sottovoce.models.speech.mask.fill import Silence
from sottovoce.models.speech.mask.surrogate import PLACEHOLDER
from sottovoce.models.speech.masked_words import MISFIT, mark, to_the_edges, with_misfits
from sottovoce.models.speech.recognise.nobody import Nobody
from sottovoce.models.speech.slice import Slice, Slicer
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice import Voiced

RATE_HZ, WORD_S = 1000, 0.4
Numbers = frozenset[int]


class Aligned:
    """Finds `w0 w1 w2` one after the other."""

    def __init__(self, misfits: Numbers = frozenset()) -> None:
        self._misfits = misfits

    def setup(self) -> None:
        pass

    def align(self, speech: Speech, text: str, language: str | None = None) -> tuple[Word, ...]:
        words, at = [], 0
        for number, token in enumerate(text.split()):
            times = number * WORD_S, (number + 1) * WORD_S
            words.append(Word(at, at + len(token), *times, 1.0, misfit=number in self._misfits))
            at += len(token) + 1
        return tuple(words)


class Half:
    """A voice that keeps the sound of its source, at half the level."""

    def setup(self) -> None:
        pass

    def transform(self, utterance, speech, words, secret, slices=None) -> Voiced:  # type: ignore[no-untyped-def]
        return Voiced(Speech(speech.samples / 2, speech.rate_hz), tuple(words))


def said(count: int, misfits: Numbers, sensitive: Numbers) -> list[Slice]:
    """What is left of `count` words; each of their samples tells which word it is of."""
    text = " ".join(f"w{number}" for number in range(count))
    samples = np.repeat([(number + 1) / 50 for number in range(count)], round(WORD_S * RATE_HZ)).astype(np.float32)
    words = Aligned().align(Speech(samples, RATE_HZ), text)
    spans = tuple(Span(words[number].begin, words[number].end, "PER") for number in sorted(sensitive))
    utterance = Utterance("u", "d", 0, text, Source("f", 1), spans=spans)
    slicer = Slicer(min_seconds=0.5, level_db=None)
    chain = SpeechChain(Aligned(misfits), Half(), Silence(guard_ms=0.0), Nobody(), slicer, Secret(b"7" * 32))  # type: ignore[arg-type]
    return chain.run(Spoken(utterance, Speech(samples, RATE_HZ)))


def numbers_in_text(slices: list[Slice]) -> set[int]:
    return {int(token[1:]) for piece in slices for token in piece.text.split()}


def numbers_in_sound(slices: list[Slice]) -> set[int]:
    """Of words of which more than the fade at an edge is there."""
    levels = Counter(float(level) for piece in slices for level in np.round(piece.speech.samples * 100, 4))
    return {round(level) - 1 for level, count in levels.items() if level > 0.5 and level.is_integer() and count > 12}


def words_near(numbers: Numbers, count: int) -> set[int]:
    return {near for number in numbers for near in (number - 1, number, number + 1) if 0 <= near < count}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_misfit_and_the_words_beside_it_are_in_no_slice(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 14))
    some = st.frozensets(st.integers(0, count - 1), max_size=4)
    misfits, sensitive = data.draw(some), data.draw(some)
    unsure = words_near(misfits, count)
    gone = unsure | sensitive | words_near(frozenset(unsure & sensitive), count)
    try:
        slices = said(count, misfits, sensitive)
    except Refusal:
        assert len(gone) == count
        return
    assert numbers_in_text(slices) == set(range(count)) - gone
    assert numbers_in_sound(slices) <= set(range(count)) - gone


def test_a_sensitive_word_beside_a_misfit_takes_its_other_neighbour_with_it() -> None:
    assert numbers_in_text(said(8, frozenset({2}), frozenset({3}))) == {0, 5, 6, 7}
    assert numbers_in_text(said(8, frozenset({2}), frozenset({5}))) == {0, 4, 6, 7}


def test_where_everything_fits_the_spans_stay_as_they_are() -> None:
    words, spans = Aligned().align(Speech(np.zeros(0, np.float32), RATE_HZ), "w0 w1 w2"), (Span(3, 5, "PER"),)
    assert with_misfits(words, spans) == spans


@pytest.mark.parametrize("sensitive, kinds", [((), [MISFIT] * 3), ((2,), ["PER", MISFIT, MISFIT, MISFIT])])
def test_each_word_that_is_left_out_is_counted_once(sensitive: tuple[int, ...], kinds: list[str]) -> None:
    words = Aligned(frozenset({1})).align(Speech(np.zeros(0, np.float32), RATE_HZ), "w0 w1 w2 w3")
    spans = [Span(words[number].begin, words[number].end, "PER") for number in sensitive]
    assert sorted(span.type for span in with_misfits(words, spans)) == sorted(kinds)


def test_a_surrogate_beside_a_misfit_moves_no_other_word_from_its_place() -> None:
    """The article before it is left out already, and not another one said in its place."""
    text, words, at = "we took a london train to town today", [], 0
    for number, token in enumerate(text.split()):
        words.append(Word(at, at + len(token), number * WORD_S, (number + 1) * WORD_S, 1.0, misfit=token == "london"))
        at += len(token) + 1
    spans = with_misfits(words, [Span(10, 16, "LOC")])
    assert list(spans) == sorted(spans, key=lambda span: span.begin)
    member = Spec("replace", "full").make()
    member.setup()
    utterance = Utterance("u", "d", 0, text, Source("f", 1), spans=spans)
    edits = member.replace(utterance, Secret(b"7" * 32))
    assert all(one.end <= other.begin for one, other in pairwise(edits))


def test_what_may_be_said_beyond_an_edge_goes_up_to_it() -> None:
    words = Aligned(frozenset({0})).align(Speech(np.zeros(0, np.float32), RATE_HZ), "w0 w1 w2 w3 w4")
    later = tuple(replace(word, begin_s=word.begin_s + 2, end_s=word.end_s + 2) for word in words)
    text = "w0 w1 w2 w3 w4"
    masked = mark(text, with_misfits(later, ()), later)
    assert masked.stretches[0][0] > 1 and to_the_edges(masked, later, 9.0).stretches[0][0] == 0
    own = mark(text, [Span(0, 2, "PER"), Span(12, 14, "PER")], later)
    fits = tuple(replace(word, misfit=False) for word in later)
    assert to_the_edges(own, fits, 9.0) == own
    last = tuple(replace(word, misfit=number == 4) for number, word in enumerate(later))
    assert to_the_edges(mark(text, with_misfits(last, ()), last), last, 9.0).stretches[-1][1] == 9.0


@pytest.mark.parametrize("strategy", ["full", "word", "consistent"])
def test_no_surrogate_is_said_in_place_of_a_misfit(strategy: str) -> None:
    member = Spec("replace", strategy).make()
    member.setup()
    utterance = Utterance("u", "d", 0, "call anna now", Source("f", 1), spans=(Span(5, 9, MISFIT),))
    (edit,) = member.replace(utterance, Secret(b"7" * 32))
    assert PLACEHOLDER.fullmatch(edit.replacement)
