"""One word of a name must look like one; the others may look less so."""

import numpy as np
import pytest

from sottovoce.models.records import Span
from sottovoce.models.text.detect.sureness import raised, sure_enough

SEEDS = {"PER": 2.0, "ORG": 2.0}


def kept(text, *found):
    """`found`: (words, type, how far each word is above the outside label)."""
    spans, words, scores = [], [], []
    for part, kind, *above in found:
        begin = text.index(part)
        spans.append(Span(begin, begin + len(part), kind))
        at = begin
        for word, one in zip(part.split(), above, strict=True):
            words.append((text.index(word, at), text.index(word, at) + len(word)))
            at = words[-1][1]
            scores.append([0.0, one])
    left = sure_enough(spans, text, words, np.array(scores), 0, 0.0, SEEDS)
    return [text[span.begin : span.end] for span in left]


def test_a_word_that_the_bias_alone_makes_a_name_is_none():
    assert kept("does that include tip", ("tip", "PER", 0.1)) == []
    assert kept("does that include anna", ("anna", "PER", 6.0)) == ["anna"]


def test_one_sure_word_stands_for_the_others_of_its_name():
    assert kept("near the maritime museum", ("the maritime museum", "ORG", 0.2, 4.0, 0.5)) == ["the maritime museum"]
    assert kept("near the maritime museum", ("the", "ORG", 0.2), ("maritime museum", "ORG", 4.0, 1.0)) == [
        "the",
        "maritime museum",
    ]


def test_a_type_that_asks_for_nothing_keeps_all():
    assert kept("at the seventh", ("the seventh", "DATE", 0.1, 0.2)) == ["the seventh"]


@pytest.mark.parametrize(
    "text", ["tell hope about it", "my son hope", "did hope call", "meet at seven with hope", "we met Hope today"]
)
def test_a_cue_or_a_capital_tells_of_somebody(text):
    name = "Hope" if "Hope" in text else "hope"
    assert kept(text, (name, "PER", 0.2)) == [name]


def test_a_place_to_eat_needs_no_sure_word():
    assert kept("i want to eat at one fish tonight", ("one fish", "ORG", 0.1, 0.2)) == ["one fish"]


def test_where_a_title_is_expected_more_is_asked_for():
    assert kept("two tickets for emma please", ("emma", "PER", 4.0)) == []
    assert kept("two tickets for emma please", ("emma", "PER", 8.0)) == ["emma"]
    assert kept("tickets for the concert of emma", ("emma", "PER", 4.0)) == ["emma"]
    assert kept("is emma still playing at the odeon", ("emma", "PER", 4.0), ("the odeon", "ORG", 3.0, 5.0)) == [
        "the odeon"
    ]


def test_a_known_title_of_three_words_names_nobody():
    text = "coco and the greatest showman are family films"
    assert kept(text, ("the greatest showman", "ORG", 3.0, 4.0, 5.0)) == []


def test_a_known_title_of_three_words_may_be_a_name_all_the_same():
    assert kept("a table at smoke and mirrors tonight", ("smoke and mirrors", "ORG", 8.0, 6.0, 9.0)) == [
        "smoke and mirrors"
    ]


def test_after_an_article_more_is_asked_for():
    assert kept("could the courier call", ("the courier", "ORG", 0.5, 2.5)) == []
    assert kept("could the courier call", ("the courier", "ORG", 0.5, 5.0)) == ["the courier"]


def test_one_of_many_is_a_thing():
    assert kept("i ordered an xbox", ("xbox", "ORG", 3.5)) == []
    assert kept("is there a starbucks", ("starbucks", "ORG", 9.0)) == ["starbucks"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a table for three at smoke and mirrors tonight", ["smoke", "and", "mirrors"]),
        ("play something by massive attack", ["massive", "attack"]),
        ("how do i get from deal to sandwich", ["deal", "sandwich"]),
        ("invite joy and miles to the picnic", ["miles"]),
        ("ring grace back", ["grace"]),
        ("book one for two", []),
        ("book mother for two", ["mother"]),
        ("a table at seven", []),
        ("drive from work to home", []),
        ("a table at the same place", []),
    ],
)
def test_where_a_name_is_expected_its_words_gain(text, words):
    places, at = [], 0
    for word in text.split():
        places.append((text.index(word, at), text.index(word, at) + len(word)))
        at = places[-1][1]
    gained = raised(text, places, np.zeros((len(places), 2)), 0)
    assert [text[begin:end] for (begin, end), row in zip(places, gained, strict=True) if row[0] < 0] == words
