"""The distance of two sequences is a metric, whatever they are of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.text.edit_distance import edit_distance

short = st.one_of(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.integers(0, 2), max_size=7))


@given(short, short, short)
def test_the_distance_is_a_metric(one: list[object], two: list[object], three: list[object]) -> None:
    assert edit_distance(one, one) == 0 and (edit_distance(one, two) > 0 or one == two)
    assert edit_distance(one, two) == edit_distance(two, one)
    assert edit_distance(one, three) <= edit_distance(one, two) + edit_distance(two, three)


def test_words_are_counted_as_wholes() -> None:
    assert edit_distance([(1, 2), (3,)], [(1,), (3,)]) == 1
