"""Word errors are counted as edits, whatever way numbers are written."""

from __future__ import annotations

import pytest

from sottovoce.models.evaluation.metrics.word_errors import WordErrors, tokens, word_errors


@pytest.mark.parametrize(
    "said, heard",
    [
        ("EIGHT OH SEVEN", "807"),
        ("enter six two four", "Enter 624."),
        ("july fourth nineteen eighty two", "July 4th, 1982."),
        ("TWENTY THREE", "23"),
        ("it's C Z", "It’s C, Z."),
    ],
)
def test_two_ways_to_write_one_thing_are_no_error(said: str, heard: str) -> None:
    assert word_errors(said, heard).errors == 0


def test_errors_are_counted_per_word_said() -> None:
    assert word_errors("a b c d", "a x c") == WordErrors(2, 4)
    assert (word_errors("a b", "a") + word_errors("a b", "a b")).rate == 0.25
    assert word_errors("hello", "").errors == 1


def test_words_of_other_languages_are_whole_and_their_numbers_read_where_that_is_known() -> None:
    assert tokens("Frau Müller, um sieben", "de") == ["frau", "müller", "um", "7"]
    assert tokens("divi 12", "lv") == ["divi", "1", "2"]
