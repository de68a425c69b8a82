"""What a template keeps of an utterance, rung by rung."""

import pytest

from sottovoce.models.records import Slot, Source, Span, Utterance
from sottovoce.models.text.rewrite.template import Gap, NoTemplate, from_key, on_rung, pieces_of, to_key, values_of


def said(text: str, slots: tuple = (), spans: tuple = ()) -> Utterance:
    return Utterance("u", "d", 0, text, Source("f", 1), slots=slots, spans=spans)


def test_case_spaces_and_signs_do_not_part_a_crowd():
    assert pieces_of(said("Wake me,  PLEASE!")) == pieces_of(said("wake me please")) == ["wake", "me", "please"]


def test_slots_and_spans_become_gaps_and_what_overlaps_is_one():
    text = "call anna smith at nine"
    pieces = pieces_of(said(text, (Slot(5, 15, "contact"),), (Span(5, 9, "PER"), Span(19, 23, "TIME"))))
    assert pieces == ["call", Gap(slot="contact"), "at", Gap(type="TIME")]
    bridged = pieces_of(said(text, (Slot(5, 9, "first"), Slot(10, 15, "last")), (Span(5, 15, "PER"),)))
    assert bridged == ["call", Gap(slot="first"), "at", "nine"]


def test_a_common_word_in_a_slot_stays_unless_a_detector_marked_it():
    text, slot = "will it rain", (Slot(8, 12, "weather"),)
    assert pieces_of(said(text, slot))[-1] == Gap(slot="weather", said="rain")
    assert pieces_of(said(text, slot, (Span(8, 12, "PER"),)))[-1] == Gap(slot="weather")


def test_values_that_name_somebody_are_not_counted():
    text = "call anna smith at half nine"
    slots = (Slot(5, 15, "contact"), Slot(19, 28, "when"))
    assert list(values_of(said(text, slots, (Span(5, 9, "PER"), Span(19, 28, "TIME"))))) == [("when", "half nine")]


def test_each_rung_keeps_less():
    pieces = pieces_of(said("please play quixotry songs for me"))
    assert on_rung(pieces, "full") == pieces
    assert on_rung(pieces, "common") == ["please", "play", "songs", "for", "me"]
    assert on_rung(pieces, "skeleton") == ["play", "songs"]


@pytest.mark.parametrize("text", ["", "  ", "...", "-"])
def test_nothing_said_is_no_template(text):
    with pytest.raises(NoTemplate):
        pieces_of(said(text))


def test_a_key_holds_all_that_is_needed_and_tells_intents_and_languages_apart():
    pieces = ["say", Gap("title", "", ""), Gap("", "PER", ""), "{PER}"]
    assert from_key(to_key(pieces, "play", "en")) == (pieces, "play", "en")
    assert len({to_key(pieces, intent, language) for intent in ("a", None) for language in ("en", None)}) == 4
