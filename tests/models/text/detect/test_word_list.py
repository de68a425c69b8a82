"""A list of words becomes spans: whole words, any case, longest first."""

from __future__ import annotations

from sottovoce.models.records import Span
from sottovoce.models.text.detect.word_list import WordList, chosen


def found(entries: list[str], text: str) -> list[str]:
    return [text[span.begin : span.end] for span in WordList(tuple(entries)).spans(text)]


def test_words_are_found_whole_and_in_any_case() -> None:
    assert found(["ann", "New York"], "Ann and Annie moved to NEW  york, said ann's friend") == [
        "Ann",
        "NEW  york",
        "ann",
    ]


def test_the_longer_phrase_wins() -> None:
    assert found(["new york", "new york city"], "in new york city") == ["new york city"]


def test_an_empty_list_finds_nothing_and_signs_are_taken_literally() -> None:
    assert found(["", "  "], "anything") == []
    assert found(["a.b"], "a.b but not axb") == ["a.b"]


def test_types_are_chosen_by_name() -> None:
    spans = [Span(0, 1, "PER"), Span(2, 3, "LOC")]
    assert chosen(spans, None) == spans and chosen(spans, ["LOC"]) == spans[1:] and chosen(spans, ()) == []
