"""Scores of understanding, their spread over seeds, and the yardstick that learns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.evaluation.metrics.utility import Cell, Score, Sentence, against, score, slots_of, spread


def sentence(words: str, tags: str, intent: str) -> Sentence:
    return Sentence(tuple(words.split()), tuple(tags.split()), intent)


def test_a_slot_counts_only_with_all_its_words_and_its_name():
    wanted = [sentence("fly to new york", "O O B-city I-city", "fly")]
    assert score(wanted, [("fly", ["O", "O", "B-city", "I-city"])]) == Score(1.0, 1.0, 1.0)
    assert score(wanted, [("fly", ["O", "O", "B-city", "O"])]) == Score(1.0, 0.0, 1.0)
    assert score(wanted, [("pay", ["O", "O", "B-name", "I-name"])]) == Score(0.0, 0.0, 0.0)


def test_without_any_slot_there_is_no_f1():
    assert score([sentence("thank you", "O O", "thank")], [("thank", ["O", "O"])]) == Score(1.0, None, 1.0)


def test_macro_accuracy_weighs_a_rare_intent_like_a_common_one():
    wanted = [sentence("a", "O", "common")] * 9 + [sentence("b", "O", "rare")]
    found = score(wanted, [("common", ["O"])] * 10)
    assert (found.intent_accuracy, found.macro_accuracy) == (0.9, 0.5)


@given(st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"]), max_size=12))
def test_every_tagged_word_lies_in_exactly_one_slot(tags):
    covered = [at for begin, end, _ in slots_of(tags) for at in range(begin, end)]
    assert sorted(covered) == [at for at, tag in enumerate(tags) if tag != "O"]


def test_deviation_is_that_of_a_sample_and_zero_for_one_seed():
    assert spread([0.8, 0.9, 1.0]).deviation == pytest.approx(0.1)
    assert spread([0.8]).deviation == 0.0


def test_a_sentence_and_its_cell_show_no_words():
    one = sentence("call anna", "O B-PER", "call")
    assert "anna" not in repr(one)
    assert "anna" not in str(Cell("mine", "none", None, (Score(1.0, 1.0),), 0.0).as_dict())


def test_a_cell_is_read_as_it_was_kept():
    cell = Cell("mine", "full, p by token", 8.0, (Score(0.9, None, 0.8), Score(0.8, 0.5, 0.7)), 0.4, 1, 6.5)
    assert Cell.from_dict(json.loads(json.dumps(cell.as_dict()))) == cell


@pytest.mark.slow
def test_the_reader_learns_and_repeats_itself():
    from sottovoce.models.evaluation.metrics.understanding import IntentReader, ReaderTraining

    train = [
        sentence(f"{verb} {name} now", "O B-PER O", verb) for verb in ("call", "pay") for name in "abcdefghijklmnop"
    ]
    test = [sentence("pay zoe now", "O B-PER O", "pay"), sentence("call a now", "O B-PER O", "call")]
    training = ReaderTraining(epochs=30, batch=8)
    first = IntentReader(training).fit(train, seed=1).measure(test)
    assert first == Score(1.0, 1.0, 1.0)  # a name never seen is read as unknown, whose vector was trained
    assert IntentReader(training).fit(train, seed=1).measure(test) == first


def test_the_difference_to_no_replacement_is_taken_seed_by_seed():
    """Differences -0.1, -0.2, -0.3: mean -0.2, deviation 0.1, and Student's 4.303 for two degrees of freedom."""
    plain = Cell("c", "none", None, tuple(Score(value, None) for value in (0.9, 0.8, 0.7)), 0.0)
    other = Cell("c", "typed", 0.0, tuple(Score(value, None) for value in (0.8, 0.6, 0.4)), 1.0)
    assert against(other, plain) == pytest.approx((-0.2, 4.3027 * 0.1 / 3**0.5), abs=1e-4)
    one = Cell("c", "typed", 0.0, other.scores[:1], 1.0)
    assert against(one, Cell("c", "none", None, plain.scores[:1], 0.0)) is None  # one seed tells nothing of the spread
    assert against(other, plain, "slot_f1") is None
