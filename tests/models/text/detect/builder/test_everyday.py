"""The everyday sentences that the tagger of many languages learns from."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from sottovoce.models.text.detect.builder import lists
from sottovoce.models.text.detect.builder.corpora import read_examples

EVERYDAY = Path(lists.__file__).with_name("everyday.jsonl")
MEASURED = Path(__file__).parents[2]


def test_every_language_has_as_many_and_half_of_them_name_nothing():
    examples = list(read_examples(EVERYDAY))
    each = Counter(example.language for example in examples)
    empty = Counter(example.language for example in examples if not example.has_entity())
    assert len(each) == 8 and min(each.values()) >= 170
    assert all(0.4 < empty[code] / each[code] < 0.6 for code in each)


def test_inside_labels_continue_a_value():
    for example in read_examples(EVERYDAY):
        for before, after in pairwise(("O", *example.labels)):
            assert not after.startswith("I-") or before[2:] == after[2:]


@pytest.mark.parametrize("folder", ["spoken", "spoken_2"])
def test_no_five_words_in_a_row_are_those_of_a_measured_sentence(folder):
    for path in (MEASURED / folder).glob("*.jsonl"):
        measured = {five for row in path.read_text("utf-8").splitlines() for five in _fives(json.loads(row)["tokens"])}
        learnt = {five for e in read_examples(EVERYDAY) if e.language == path.stem for five in _fives(e.tokens)}
        assert measured and not measured & learnt


def _fives(words):
    return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}
