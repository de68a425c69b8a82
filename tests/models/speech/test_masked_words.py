"""A span masks whole words or nothing is published; what is removed from the text is gone to the character."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.records import Phone, Span, Word
from sottovoce.models.speech.masked_words import SpanOutsideText, WordNotLocated, mark, text_between, text_with_markers


def spoken(text: str, pause_s: float = 0.2) -> tuple[Word, ...]:
    """Words of 0.5 s with a pause after each."""
    words, at = [], 0
    for index, token in enumerate(text.split()):
        begin = text.index(token, at)
        at = begin + len(token)
        words.append(Word(begin, at, index * (0.5 + pause_s), index * (0.5 + pause_s) + 0.5, 1.0))
    return tuple(words)


def span(text: str, part: str, kind: str = "NAME") -> Span:
    return Span(text.index(part), text.index(part) + len(part), kind)


def test_a_span_that_touches_a_word_masks_the_whole_word() -> None:
    text = "call johnny now"
    masked = mark(text, [span(text, "ohn")], spoken(text))
    assert masked.indices == {1} and masked.stretches == (pytest.approx((0.6, 1.3)),)
    assert text_between(text, 0, len(text), masked.removed) == "call now"


def test_a_name_of_several_words_is_one_stretch_with_its_pauses() -> None:
    text = "call john van dyke now"
    masked = mark(text, [span(text, "john van dyke")], spoken(text))
    assert masked.stretches == (pytest.approx((0.6, 2.7)),)


def sounding(words: tuple[Word, ...], *phones: str) -> tuple[Word, ...]:
    """Words that begin and end with these phones: first, last, first, last, ..."""
    edges = zip(words, phones[::2], phones[1::2], strict=True)
    return tuple(replace(w, phones=(Phone(a, w.begin_s, w.end_s), Phone(b, w.begin_s, w.end_s))) for w, a, b in edges)


def test_a_stretch_takes_of_the_pause_and_nothing_of_a_neighbour_that_sounds_different() -> None:
    text = "call john now"
    words = sounding(spoken(text, pause_s=0.02), "K", "L", "JH", "N", "OW", "W")
    assert mark(text, [span(text, "john")], words).stretches == (pytest.approx((0.5, 1.04)),)
    assert mark(text, [span(text, "now")], spoken(text)).stretches == (pytest.approx((1.3, 1.9)),)


@pytest.mark.parametrize(
    "last, first", [("TH", "F"), ("AH", "AE"), ("OW", "W"), ("T", "P"), ("T", "F"), ("N", "M"), ("t", "ow")]
)
def test_where_sounds_that_blend_or_of_no_known_kind_meet_a_stretch_reaches_into_the_neighbour(
    last: str, first: str
) -> None:
    text = "call john now"
    words = sounding(spoken(text, pause_s=0.0), "K", first, last, last, first, "W")
    assert mark(text, [span(text, "john")], words).stretches == (pytest.approx((0.485, 1.025)),)


def test_a_stretch_never_reaches_beyond_the_neighbour() -> None:
    text = "call john now"
    words = (Word(0, 4, 0.0, 0.01, 1.0), Word(5, 9, 0.01, 0.5, 1.0), Word(10, 13, 0.5, 0.52, 1.0))
    assert mark(text, [span(text, "john")], words).stretches == (pytest.approx((0.0, 0.52)),)


def test_of_words_that_were_never_spoken_the_guard_band_lies_inside_their_silence() -> None:
    text = "call john smith now"
    masked = mark(text, [span(text, "john smith")], spoken(text, pause_s=0.0), unsaid_guard_s=0.03)
    assert masked.stretches == (pytest.approx((0.53, 1.47)),)


def test_letters_that_no_word_covers_are_refused() -> None:
    text = "call john smith"
    with pytest.raises(WordNotLocated):
        mark(text, [span(text, "john smith")], spoken(text)[:2])


def test_a_span_without_sound_needs_no_word_and_leaves_the_text() -> None:
    text = "call 😀 now"
    words = (spoken(text)[0], spoken(text)[2])
    masked = mark(text, [span(text, "😀", "EMOJI")], words)
    assert not masked.stretches and text_between(text, 0, len(text), masked.removed) == "call now"


@pytest.mark.parametrize("begin, end", [(-1, 3), (3, 3), (5, 2), (0, 99)])
def test_a_span_outside_the_text_is_refused(begin: int, end: int) -> None:
    with pytest.raises(SpanOutsideText):
        mark("call john", [Span(begin, end, "NAME")], spoken("call john"))


def test_no_hanging_punctuation_is_left() -> None:
    text = "mail jo@x.org. (or smith-based firms)"
    removed = [(5, 13), (text.index("smith"), text.index("smith") + 5)]
    assert text_between(text, 0, len(text), removed) == "mail (or based firms)"


def test_markers_name_the_type_once_for_a_name_of_several_words() -> None:
    text = "call johnny smith in paris now"
    spans = [span(text, "ohnny smith"), span(text, "paris", "PLACE")]
    assert text_with_markers(text, spans, spoken(text)) == "call [NAME] in [PLACE] now"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_nothing_of_a_span_survives_in_the_text(data: st.DataObject) -> None:
    tokens = data.draw(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8))
    secret = data.draw(st.integers(0, len(tokens) - 1))
    tokens[secret] = "QX" + tokens[secret]
    text = " ".join(tokens)
    begin = text.index("QX")
    length = data.draw(st.integers(1, len(tokens[secret])))
    masked = mark(text, [Span(begin, begin + length, "NAME")], spoken(text))
    kept = text_between(text, 0, len(text), masked.removed)
    assert kept.split() == [token for index, token in enumerate(tokens) if index != secret]
    assert masked.indices == {secret}
