"""A heard sequence of words is led back to the pieces of the text, and only a complete reading is accepted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.speech.align.readings import grammar_of, pieces
from sottovoce.models.speech.align.refusals import AlignmentFailed


def test_each_word_goes_back_to_the_piece_it_was_read_from() -> None:
    grammar = grammar_of([piece.forms for piece in pieces("room 807 b")], lambda word: True)
    assert grammar.owners(["room", "eight", "oh", "seven", "b."]) == [0, 1, 1, 1, 2]
    assert grammar.owners(["room", "eight", "hundred", "and", "seven", "b."]) == [0, 1, 1, 1, 1, 2]


@pytest.mark.parametrize("heard", ["", "room", "room eight oh seven", "room nine b.", "room eight oh seven b. b."])
def test_an_incomplete_or_other_reading_is_not_accepted(heard: str) -> None:
    assert not grammar_of([piece.forms for piece in pieces("room 807 b")], lambda word: True).accepts(heard.split())


def test_readings_with_unknown_words_are_left_out_and_a_piece_without_any_is_refused() -> None:
    choices = [piece.forms for piece in pieces("807")]
    assert not grammar_of(choices, lambda word: word != "hundred").accepts(["eight", "hundred", "seven"])
    with pytest.raises(AlignmentFailed):
        grammar_of(choices, lambda word: word != "eight")


words = st.sampled_from(["a", "b", "c"])
forms = st.lists(st.lists(st.tuples(words), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(st.lists(forms, min_size=1, max_size=5), st.data())
def test_every_choice_of_forms_is_accepted_with_owners_in_order(choices: list, data: st.DataObject) -> None:
    grammar = grammar_of(choices, lambda word: True)
    heard = [slot[0] for options in choices for slot in data.draw(st.sampled_from(options))]
    owners = grammar.owners(heard)
    assert owners == sorted(owners) and set(owners) == set(range(len(choices)))
