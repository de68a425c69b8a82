"""Words of a long transcript go to the stretches in which they were heard, though much was misheard."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.speech.calls.anchors import found_in, words_in

WORDS = [f"w{number}" for number in range(900)]


def spoken(count: int, share_wrong: float, seed: int = 0) -> tuple[str, list[list[str]], list[str]]:
    """(a transcript, its words by stretch, what was heard in each)"""
    rng = random.Random(seed)
    stretches = [
        rng.choices(WORDS, weights=[1 / (1 + k) for k in range(900)], k=rng.randint(3, 30)) for _ in range(count)
    ]
    heard = [
        " ".join(rng.choice(WORDS) if rng.random() < share_wrong else word for word in words if rng.random() > 0.03)
        for words in stretches
    ]
    return " ".join(word for words in stretches for word in words), stretches, heard


def test_an_hour_with_a_sixth_of_its_words_misheard_is_put_together_again():
    text, stretches, heard = spoken(550, 0.15)
    at, right = 0, 0
    for words, found in zip(stretches, found_in(text, heard), strict=True):
        right += found is not None and at <= found.first <= found.last < at + len(words)
        at += len(words)
    assert right >= 0.97 * len(stretches)


def test_of_another_transcript_little_is_found():
    _, _, heard = spoken(40, 0.15, seed=1)
    other, _, _ = spoken(40, 0.0, seed=2)
    shares = [found.matched for found in found_in(other, heard) if found is not None]
    assert sum(share >= 0.5 for share in shares) <= 4


@given(st.lists(st.text("ab ", max_size=12), max_size=6), st.text("ab ", max_size=40))
def test_what_is_found_is_in_the_transcript_and_in_order(heard, text):
    found = [one for one in found_in(text, heard) if one is not None]
    assert all(0 <= one.first <= one.last < len(words_in(text)) and 0 < one.matched <= 1 for one in found)
    assert all(one.last < other.first for one, other in itertools.pairwise(found))
