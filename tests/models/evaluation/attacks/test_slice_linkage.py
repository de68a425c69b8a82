"""The attack finds links that are there, finds none where there are none, and never learns from what it judges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sottovoce.models.evaluation.attacks.slice_linkage import (
    TracedSlice,
    combined,
    fold_of,
    pairs_of,
    speech_scores,
    text_scores,
)
from sottovoce.models.evaluation.attacks.trigrams import Trigrams
from sottovoce.models.evaluation.metrics.linkability import linkability
from sottovoce.models.speech.audio import Speech

STORY = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def texts(linked: bool) -> list[TracedSlice]:
    """Slices of three words: of one story that always goes on the same way, or of words in any order."""
    rng = np.random.default_rng(0)
    pieces = []
    for utterance in range(60):
        words = STORY if linked else list(rng.choice(STORY, 12))
        pieces += [TracedSlice(" ".join(words[place * 3 : place * 3 + 3]), utterance, place) for place in range(4)]
    return pieces


def test_text_that_goes_on_predictably_is_linked_and_random_words_are_not() -> None:
    for linked in (True, False):
        pieces = texts(linked)
        mated, other = pairs_of(pieces, np.random.default_rng(1))
        scores = text_scores(pieces, mated, other)
        value = linkability(scores.mated, scores.non_mated)
        # 180 mated pairs: under chance the measure lies near 0.05.
        assert value > 0.5 if linked else value < 0.2


def test_an_attacker_who_knows_of_dropped_words_looks_behind_the_gap() -> None:
    """In the story the words behind a gap are as certain as the next ones; an attacker who ignores it links little."""
    pieces = [
        TracedSlice(" ".join(STORY[p * 4 : p * 4 + 3]), utterance, p) for utterance in range(60) for p in range(3)
    ]
    mated, other = pairs_of(pieces, np.random.default_rng(1))
    found = {}
    for gap in (0, 1):
        scores = text_scores(pieces, mated, other, [" ".join(STORY)] * 20, dropped_words=gap)
        found[gap] = linkability(scores.mated, scores.non_mated)
    assert found[1] > 0.35 > 0.1 > found[0]  # a third of the pairs from different utterances fit as well


def test_texts_of_another_domain_link_less_than_texts_of_the_same() -> None:
    pieces = texts(True)
    mated, other = pairs_of(pieces, np.random.default_rng(1))
    non_mated = text_scores(pieces, mated, other, ["twelve nine two seven", "eight one five three"])
    assert linkability(non_mated.mated, non_mated.non_mated) < 0.3


def voices(alike: bool) -> list[TracedSlice]:
    """Noise through one filter per utterance, or through the same filter for all."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(0)
    pieces = []
    for utterance in range(150):
        pole = 0.5 if alike else rng.uniform(-0.9, 0.9)
        for place in range(2):
            samples = lfilter([1.0], [1.0, -pole], rng.normal(0, 0.05, 4_000))
            pieces.append(TracedSlice("word", utterance, place, Speech(samples.astype(np.float32), 16_000)))
    return pieces


@pytest.mark.slow
def test_a_voice_of_its_own_links_the_slices_of_an_utterance() -> None:
    for alike in (True, False):
        pieces = voices(alike)
        mated, other = pairs_of(pieces, np.random.default_rng(1))
        scores = speech_scores(pieces, mated, other)
        both = combined(pieces, mated, other, scores, text_scores(pieces, mated, other))
        value = linkability(both.mated, both.non_mated)
        assert value < 0.2 if alike else value > 0.35


def test_pairs_are_neighbours_or_of_other_utterances_in_the_same_fold() -> None:
    pieces = texts(True)
    mated, other = pairs_of(pieces, np.random.default_rng(1))
    assert len(mated) == 180 and len(other) == 900
    for first, second in mated:
        assert pieces[first].utterance == pieces[second].utterance and pieces[second].place == pieces[first].place + 1
    for first, second in other:
        assert pieces[first].utterance != pieces[second].utterance and fold_of(pieces[first]) == fold_of(pieces[second])


def test_the_language_model_is_a_distribution() -> None:
    for gap in (0, 1, 2):
        _check_distribution(Trigrams([s.split() for s in ("a b c", "a b d", "c a b")], gap))


def _check_distribution(model: Trigrams) -> None:
    vocabulary = ["a", "b", "c", "d"]
    for context in itertools.chain([[]], [[w] for w in vocabulary], itertools.product(vocabulary, repeat=2)):
        total = sum(np.exp(model.log_probability([word], list(context))) for word in [*vocabulary, "never seen"])
        assert total == pytest.approx(1.0)
