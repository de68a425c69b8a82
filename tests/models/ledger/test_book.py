import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.ledger.book import faults_of, from_json, open_book, to_json
from sottovoce.models.ledger.entries import LedgerEntry

RELEASED = ("the number of lines",)
DETECT = LedgerEntry("detect", "rules", "Finds numbers by pattern.", ("names of people",))
COIN = LedgerEntry(
    stage="replace",
    mechanism="random",
    says="Replaces each word by a draw.",
    not_protected=("the class of the word",),
    parameters={"p": 0.99, "lists": ("a", "b"), "limit": math.inf},
    adjacency="one detected word",
    assumptions=("coins are independent",),
    paper={"unit": 6.75},
    sound={"unit": 6.75, "utterance": math.inf},
    infinite_because="the number of words in an utterance has no bound",
)


def book(*entries: LedgerEntry, released=RELEASED) -> dict:
    return open_book("run-1", "2026-01-02T03:04:05Z", entries, released)


def test_infinity_is_written_as_inf_with_its_reason_and_the_file_is_plain_json():
    row = json.loads(to_json(book(COIN)), parse_constant=pytest.fail)["mechanisms"][0]
    assert row["sound"] == {"unit": 6.75, "utterance": "inf"}
    assert row["infinite_because"] == "the number of words in an utterance has no bound"
    assert row["parameters"] == {"p": 0.99, "lists": ["a", "b"], "limit": "inf"}


def test_an_infinite_figure_never_stands_without_a_reason():
    row = book(dataclasses.replace(COIN, infinite_because=None))["mechanisms"][0]
    assert row["infinite_because"] == COIN.says
    assert book(DETECT)["mechanisms"][0]["infinite_because"] is None


def test_a_book_says_what_is_released_exactly_by_its_sinks_and_by_every_run():
    released = book(DETECT, released=("the number of lines", "the number of lines"))["released_exactly"]
    assert released.count("the number of lines") == 1 and any("language" in line for line in released)
    assert any("detectors miss" in line for line in book(DETECT)["not_protected"])


def test_a_member_that_serves_three_sinks_is_one_mechanism():
    assert [row["mechanism"] for row in book(DETECT, COIN, DETECT, COIN)["mechanisms"]] == ["rules", "random"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"not_protected": ()}, "not_protected"),
        ({"says": " "}, "says"),
        ({"stage": ""}, "stage"),
        ({"sound": None}, "may not stand without the sound figure"),
        ({"adjacency": None}, "adjacency"),
        ({"sound": {"unit": math.nan}}, "sound.unit"),
        ({"paper": {"unit": -1.0}}, "paper.unit"),
        ({"parameters": {"model": object()}}, "parameters"),
        ({"parameters": {"p": math.nan}}, "parameters"),
    ],
)
def test_an_entry_that_claims_too_much_or_too_little_is_refused(change, message):
    with pytest.raises(SettingsError, match=message):
        book(DETECT, dataclasses.replace(COIN, **change))


def test_every_fault_of_every_entry_is_reported_at_once():
    with pytest.raises(SettingsError) as caught:
        book(dataclasses.replace(DETECT, not_protected=()), dataclasses.replace(COIN, says="", adjacency=None))
    assert len(caught.value.problems) == 3


def test_a_good_entry_has_no_fault():
    assert faults_of(DETECT) == faults_of(COIN) == []


@given(st.dictionaries(st.text(min_size=1), st.floats(min_value=0, allow_nan=False), min_size=1))
def test_figures_come_back_as_they_were(sound):
    written = to_json(book(dataclasses.replace(COIN, sound=sound)))
    assert from_json(written)["mechanisms"][0]["sound"] == sound


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"mechanisms": [{}]}', '{"mechanisms": 3}'])
def test_a_damaged_file_is_named_and_not_quoted(text):
    with pytest.raises(RunError, match=r"ledger\.json is damaged"):
        from_json(text)
