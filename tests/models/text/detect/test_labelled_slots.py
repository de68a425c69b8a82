"""Slots that the corpus labels: which are sensitive, that their spans only ever add, and how misses are counted."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.book import faults_of
from sottovoce.models.records import Slot, Span
from sottovoce.models.text.detect.builder.corpora import slot_map
from sottovoce.models.text.detect.coverage import wilson
from sottovoce.models.text.detect.labelled_slots import SlotSettings, count, recalls

DEFAULT = SlotSettings()
HARMLESS = (
    *("movie_name", "song_name", "playlist", "playlist_name", "game_name", "app_name", "event_name", "list_name"),
    *("object_name", "entity_name", "account_type", "email_folder", "personal_info", "relation", "police_notified"),
    *("city", "fromloc.city_name", "date", "time", "hotel-name", "restaurant_name", "depart_date.month_name"),
)


@pytest.mark.parametrize(
    ("slot", "type_"),
    [
        *((name, "PER") for name in ("person", "name", "first_name", "lastName", "contact", "Contact-Name", "PER")),
        *(
            (name, "PER")
            for name in ("playlist_owner", "doctor_name", "specialist_name", "songwriter_name", "nickname")
        ),
        *((name, "PHONE") for name in ("phone", "phone_number", "phonenumber", "taxi-phone", "PhoneNumber")),
        *((name, "LOC") for name in ("address", "street_address", "venue.address", "current_zipcode", "postcode")),
        *((name, "CODE") for name in ("ssn", "account_number", "policyid", "password", "booking_confirmation_number")),
        ("email_address", "EMAIL"),
        ("card_number", "CARD"),
        ("date_of_birth", "DATE"),
        ("dateOfBirth", "DATE"),
    ],
)
def test_values_that_name_reach_or_number_a_person_are_sensitive_by_default(slot, type_):
    assert DEFAULT.type_of(slot) == type_


@pytest.mark.parametrize(
    "slot",
    [
        "movie_name",
        "song_name",
        "playlist",
        "playlist_name",
        "game_name",
        "app_name",
        "event_name",
        "list_name",
        "object_name",
        "entity_name",
        "account_type",
        "email_folder",
        "personal_info",
        "city",
        "fromloc.city_name",
        "date",
        "time",
        "hotel-name",
        "restaurant_name",
        "relation",
        "police_notified",
        "depart_date.month_name",
    ],
)
def test_works_kinds_places_and_times_are_not(slot):
    assert DEFAULT.type_of(slot) is None


def test_the_table_agrees_with_what_the_slots_of_the_public_sets_are_known_to_hold():
    for corpus, slots in slot_map().items():
        for slot, known in slots.items():
            if known.type in ("PER", "PHONE", "EMAIL"):
                assert DEFAULT.type_of(slot) == known.type, (corpus, slot)
            if known.type in ("ORG", "TIME", "AMOUNT"):
                assert DEFAULT.type_of(slot) is None, (corpus, slot)


def test_a_list_says_what_else_and_what_not_and_of_which_type():
    chosen = SlotSettings(("default", "city", "kundennummer=CODE", "song*", "zzz", "!artist*"))
    found = {
        slot: chosen.type_of(slot) for slot in ("person", "city", "Kundennummer", "song_name", "zzz", "artist", "date")
    }
    assert found == {
        "person": "PER", "city": "LOC", "Kundennummer": "CODE", "song_name": "OTHER", "zzz": "OTHER", "artist": None,
        "date": None,
    }  # fmt: skip
    assert SlotSettings(("city",)).type_of("person") is None
    assert SlotSettings(()).type_of("person") is None


@pytest.mark.parametrize("item", ["", "a b", "!a=PER", "a=", "a=per", "a=b=C"])
def test_what_is_no_name_is_a_settings_error(item):
    with pytest.raises(SettingsError, match="sensitive_slots"):
        SlotSettings((item,))


TEXT = "ask anna smith's dentist"
SLOT = Slot(4, 14, "person")


@given(st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=4))
def test_a_labelled_slot_is_covered_whatever_the_detector_found_and_nothing_found_is_lost(borders):
    found = [Span(begin, end, "DATE") for begin, end in borders if begin < end]
    spans = DEFAULT.add(TEXT, found, [SLOT])
    covered = {at for span in spans for at in range(span.begin, span.end)}
    wanted = {at for span in [*found, SLOT] for at in range(span.begin, span.end)}
    assert covered <= wanted
    assert not any(TEXT[at].isalnum() for at in wanted - covered)  # a space at the end of a span is nobody's


@pytest.mark.parametrize(
    ("found", "words_found", "values_found"),
    [([], 0, 0), ([Span(4, 8, "PER")], 1, 0), ([Span(4, 14, "ORG")], 2, 1), ([Span(0, 13, "PER")], 1, 0)],
)
def test_a_value_counts_as_found_where_every_letter_of_it_is_covered_by_any_type(found, words_found, values_found):
    counts = count(TEXT, found, [Span(4, 16, "PER")])  # the 's counts for nothing
    assert counts == {
        "PER": Counter({"values": 1, "values_found": values_found, "words": 2, "words_found": words_found})
    }


def test_words_that_name_nobody_are_covered_and_not_counted():
    text = "for me and my mother and vickie"
    whole = [Span(4, len(text), "PER")]
    assert count(text, [], whole)["PER"] == Counter({"values": 1, "values_found": 0, "words": 1, "words_found": 0})
    assert count("everybody's playlist", [], [Span(0, 11, "PER")]) == {}
    assert DEFAULT.add(text, [], [Slot(4, len(text), "party_size_description")])[0].end == len(text)


def test_marks_alone_are_no_words_and_an_empty_corpus_has_no_recall():
    assert count("- anna", [], [Span(0, 1, "PER")]) == {} and recalls({}) == {}
    assert "labels none" in DEFAULT.ledger({}).says and not faults_of(DEFAULT.ledger({}))


def test_the_ledger_states_recall_with_its_interval_by_type_and_of_all():
    counts = {
        "PER": {"values": 50, "values_found": 40, "words": 80, "words_found": 70},
        "PHONE": {"values": 10, "values_found": 10, "words": 20, "words_found": 20},
    }
    entry = DEFAULT.ledger(counts)
    measured = entry.parameters["recall_of_the_detector"]
    assert set(measured) == {"all", "PER", "PHONE"} and not faults_of(entry)
    assert measured["all"]["words"]["recall"] == pytest.approx(0.9)
    assert measured["all"]["words"]["interval"] == pytest.approx(wilson(90, 100))
    assert measured["PER"]["values"] == {
        "labelled": 50, "missed": 10, "recall": 0.8, "interval": pytest.approx(list(wilson(40, 50)))
    }  # fmt: skip
    assert re.search(r"missed 10: .* 90\.0%.*82\.6% to 94\.5%", entry.says)
