"""What counts as found and as hit too much, on cases small enough to check by eye."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.records import Span
from sottovoce.models.text.detect.builder.corpora import TaggedExample
from sottovoce.models.text.detect.coverage import wilson
from sottovoce.models.text.detect.measure import Measured, count

EXAMPLE = TaggedExample(("call", "john", "smith", "in", "paris", "."), ("O", "B-PER", "I-PER", "O", "B-LOC", "O"))


def counted(*spans):
    result = Measured()
    count(EXAMPLE, [Span(begin, end, kind) for begin, end, kind in spans], result)
    return result


def test_a_word_of_any_type_is_found_but_the_type_is_counted_apart():
    result = counted((5, 15, "LOC"))
    assert (result.entity_words.hit, result.entity_words.of) == (2, 3)
    assert (result.types["PER"].hit, result.typed["PER"].hit) == (2, 0)
    assert (result.entities.hit, result.entities.of) == (1, 2)
    assert result.other_words.hit == 0


def test_a_half_covered_name_is_missed():
    assert counted((5, 8, "PER")).entity_words.hit == 0


def test_a_touched_ordinary_word_is_over_masking_and_punctuation_is_not_counted():
    result = counted((3, 9, "PER"), (25, 26, "PER"))
    assert (result.other_words.hit, result.other_words.of) == (1, 2)


def test_mixed_slots_are_no_entities_and_count_as_over_masking_when_hit():
    result = Measured()
    count(TaggedExample(("play", "romeo"), ("O", "?")), [Span(5, 10, "PER")], result)
    assert result.entity_words.of == 0
    assert (result.other_words.hit, result.other_words.of) == (1, 2)
    assert result.as_dict()["over_masking_untold"] == 0.5


@pytest.mark.parametrize(("found", "untold"), [("DATE", 0.5), ("LOC", 0.0)])
def test_what_a_set_does_not_label_it_cannot_judge(found, untold):
    result = Measured()
    count(TaggedExample(("good", "friday"), ("O", "O"), unlabelled=frozenset({"DATE"})), [Span(5, 11, found)], result)
    assert (result.other_words.hit, result.as_dict()["over_masking_untold"]) == (1, untold)


def test_small_words_in_or_beside_an_entity_are_left_out_of_the_second_figures_only():
    result = Measured()
    words = ("wake", "me", "on", "the", "third", "of", "may", "in", "the", "house")
    count(
        TaggedExample(words, ("O", "O", "O", "B-DATE", "I-DATE", "O", "B-DATE", "O", "O", "O")),
        [Span(15, 27, "DATE")],
        result,
    )
    shown = result.as_dict()
    assert (result.entity_words.hit, result.entity_words.of, shown["recall_without_small_words"]) == (2, 3, 1.0)
    assert (result.other_words.hit, result.other_words.of) == (1, 7)
    assert (result.small_other_words.hit, result.small_other_words.of) == (1, 3)


def test_the_ending_of_a_possessive_counts_for_nothing():
    """NLU-Eval writes "john's", SLURP "john 's"; neither s tells who it was."""
    result = Measured()
    example = TaggedExample(("john's", "and", "ann", "’s", "cat"), ("B-PER", "O", "B-PER", "I-PER", "O"))
    count(example, [Span(0, 4, "PER"), Span(11, 14, "PER")], result)
    assert (result.entity_words.hit, result.entity_words.of) == (2, 2)
    assert (result.other_words.hit, result.other_words.of) == (0, 2)


def test_wilson_matches_a_known_value():
    assert wilson(9, 10) == pytest.approx((0.5958, 0.9821), abs=1e-4)  # as R's prop.test(9, 10, correct=FALSE)


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_interval_holds_the_share(hit, missed):
    low, high = wilson(hit, hit + missed)
    assert 0 <= low <= high <= 1
    if hit + missed:
        assert low <= hit / (hit + missed) + 1e-12
        assert hit / (hit + missed) <= high + 1e-12
