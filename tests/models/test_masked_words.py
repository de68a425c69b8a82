"""A span masks whole words or nothing is published; what is removed from the text is gone to the character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.masked_words import SpanOutsideText, WordNotLocated, mark, text_between, text_with_markers
from sottovoce.models.records import Span, Word


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
    masked = mark(text, [span(text, "ohn")], spoken(text), pause_s=0)
    assert masked.indices == {1} and masked.stretches == ((0.7, 1.2),)
    assert text_between(text, 0, len(text), masked.removed) == "call now"


def test_a_name_of_several_words_is_one_stretch_with_its_pauses() -> None:
    text = "call john van dyke now"
    masked = mark(text, [span(text, "john van dyke")], spoken(text), pause_s=0.1)
    assert masked.stretches == (pytest.approx((0.6, 2.7)),)


def test_a_stretch_takes_of_the_pause_but_never_of_the_next_word() -> None:
    text = "call john now"
    tight = mark(text, [span(text, "john")], spoken(text, pause_s=0.02), pause_s=0.1)
    assert tight.stretches == (pytest.approx((0.5, 1.04)),)
    last = mark(text, [span(text, "now")], spoken(text), pause_s=0.1)
    assert last.stretches == (pytest.approx((1.3, 1.9)),)


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
