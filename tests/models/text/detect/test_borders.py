"""Where spans of the tagger begin and end, and what case tells."""

import numpy as np
import pytest

from sottovoce.models.records import Span
from sottovoce.models.text.detect.overlap import tidied
from sottovoce.models.text.detect.pieces import case_of
from sottovoce.models.text.detect.tagger import spans_of

NAMES = ["O", "B-PER", "I-PER"]


def tidy(text, *found):
    spans = [Span(text.index(part), text.index(part) + len(part), kind) for part, kind in found]
    return [(text[span.begin : span.end], span.type) for span in tidied(spans, text)]


@pytest.mark.parametrize(
    ("text", "found", "left"),
    [
        ("from the fifth of may to the ninth", ("the fifth of may to", "DATE"), [("the fifth of may", "DATE")]),
        ("pier seventy and heading", ("pier seventy and", "LOC"), [("pier seventy", "LOC")]),
        ("john's wife", ("john's", "PER"), [("john", "PER")]),
        ("at macy's", ("macy's", "ORG"), [("macy's", "ORG")]),
        ("at six. ok", ("six.", "TIME"), [("six", "TIME")]),
        ("at six p.m. ok", ("six p.m.", "TIME"), [("six p.m.", "TIME")]),
        ("it is uh anna", ("uh anna", "PER"), [("anna", "PER")]),
        ("in ten minutes", ("in ten minutes", "TIME"), [("in ten minutes", "TIME")]),
        ("is in oslo", ("in oslo", "LOC"), [("oslo", "LOC")]),
        ("priya's and tom", ("'s and", "ORG"), []),
        ("the first of may", ("the first of", "DATE"), [("the first of", "DATE")]),
        ("for the spa", ("for", "ORG"), []),
        ("log in as lucy", ("as", "PER"), []),
        ("call +44 20", ("+44 20", "PHONE"), [("+44 20", "PHONE")]),
        ("for the refund", ("the", "ORG"), []),
        ("leave before six", ("before six", "TIME"), [("six", "TIME")]),
        ("after sunset", ("after sunset", "TIME"), [("after sunset", "TIME")]),
        ("in about seven minutes", ("about seven minutes", "TIME"), [("seven minutes", "TIME")]),
        ("six weeks now", ("six weeks now", "DATE"), [("six weeks", "DATE")]),
        ("two hours from now", ("two hours from now", "TIME"), [("two hours from now", "TIME")]),
        ("at seven sharp", ("seven sharp", "TIME"), [("seven", "TIME")]),
        ("DOB: 04/11/1967", ("DOB:", "DATE"), []),
        ("on flight ba 12", ("flight", "CODE"), []),
        ("drop her off first", ("first", "DATE"), []),
        ("on the first", ("first", "DATE"), [("first", "DATE")]),
        ("ngozi uh adeyemi", ("ngozi uh adeyemi", "PER"), [("ngozi", "PER"), ("adeyemi", "PER")]),
        (
            "anneliese no wait annalisa",
            ("anneliese no wait annalisa", "PER"),
            [("anneliese", "PER"), ("annalisa", "PER")],
        ),
        ("tom's brother bjorn", ("tom's brother bjorn", "PER"), [("tom", "PER"), ("bjorn", "PER")]),
        (
            "for three nights starting the eleventh",
            ("three nights starting the eleventh", "DATE"),
            [("three nights", "DATE"), ("the eleventh", "DATE")],
        ),
        ("the recital is in june", ("in june", "DATE"), [("june", "DATE")]),
        ("a pint of guinness", ("guinness", "ORG"), []),
        ("i booked this space", ("this", "DATE"), []),
        ("is this sunday free", ("this", "DATE"), [("this", "DATE")]),
        ("will it be above 66 in celsius", ("66", "TIME"), []),
        ("my nhs number", ("my nhs", "ORG"), [("nhs", "ORG")]),
        ("lunch with mr fairweather", ("mr fairweather", "PER"), [("fairweather", "PER")]),
        ("ask dr weiss", ("dr weiss", "PER"), [("dr weiss", "PER")]),
        ("picturehouse row f", ("row f", "ORG"), []),
        ("text mum", ("mum", "PER"), []),
        ("in nyc hmu", ("hmu", "DATE"), []),
        ("omg bday", ("bday", "PER"), []),
        ("one second please", ("one second", "TIME"), []),
        ("is the pool open", ("the pool", "ORG"), []),
        ("the Bank of England", ("Bank", "ORG"), [("Bank", "ORG")]),
        ("driving to bath", ("bath", "LOC"), [("bath", "LOC")]),
        ("she rents a tesla", ("tesla", "ORG"), []),
        ("the stock of tesla", ("tesla", "ORG"), [("tesla", "ORG")]),
        ("an uber xl please", ("uber xl", "ORG"), []),
        ("the thermostat to sixty eight", ("sixty eight", "TIME"), []),
        ("call me at sixty eight", ("sixty eight", "TIME"), [("sixty eight", "TIME")]),
        ("early in the morning", ("early in the morning", "TIME"), [("morning", "TIME")]),
        ("call after lunch", ("after", "TIME"), [("after", "TIME")]),
        ("fare code a", ("a", "CODE"), [("a", "CODE")]),
        ("the weather in celsius", ("celsius", "LOC"), []),
        ("twenty degrees c", ("c", "LOC"), []),
        ("fly to c", ("c", "LOC"), [("c", "LOC")]),
        ("my ford fiesta broke", ("ford fiesta", "DATE"), []),
        ("a toyota corolla", ("corolla", "DATE"), []),
        ("a 2012 honda civic", ("2012", "DATE"), [("2012", "DATE")]),
        ("tweet at ford", ("ford", "ORG"), [("ford", "ORG")]),
        ("Tom's bags", ("Tom's bags", "PER"), [("Tom", "PER")]),
        ("play destiny's child", ("destiny's child", "PER"), [("destiny's child", "PER")]),
        ("play Destiny's Child", ("Destiny's Child", "PER"), [("Destiny's Child", "PER")]),
    ],
)
def test_a_span_neither_begins_nor_ends_with_what_names_nothing(text, found, left):
    assert tidy(text, found) == left


def test_an_article_goes_with_the_name_behind_it_and_with_no_other():
    text = "book the langham or the spa"
    article, name, other = Span(5, 8, "ORG"), Span(9, 16, "ORG"), Span(20, 23, "LOC")
    assert [text[span.begin : span.end] for span in tidied([article, name, other], text)] == ["the langham"]


def test_other_languages_are_left_alone():
    assert tidied([Span(0, 6, "LOC")], "or lyon", "fr") == [Span(0, 6, "LOC")]


def test_parts_of_one_word_are_one_name():
    text = "SAOIRSE O'BRIEN"
    words = [(0, 7), (8, 9), (9, 10), (10, 15)]
    scores = np.array([[0, 9, 1], [0, 9, 1], [0, 9, 1], [0, 9, 1]], dtype=float)
    found = tidied(spans_of(text, words, scores, NAMES, 0.0, "tagger"), text)
    assert [text[span.begin : span.end] for span in found] == ["SAOIRSE", "O'BRIEN"]


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("call john now", [0, 0, 0]),
        ("CALL JOHN NOW", [0, 0, 0]),
        ("Call John now", [4, 2, 1]),
        ("Call BBC. Now", [4, 3, 1, 4]),
        ("i met John", [1, 1, 2]),
    ],
)
def test_case_is_told_only_where_a_text_has_both_kinds_of_letters(text, cases):
    words, at = [], 0
    for word in text.replace(".", " .").split():
        at = text.index(word, at)
        words.append((at, at + len(word)))
        at += len(word)
    assert case_of(text, words).tolist() == cases
