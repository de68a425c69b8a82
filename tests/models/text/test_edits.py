"""Edits and slots: over any text, an example stays a valid example."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.records import Edit, Slot, Span
from sottovoce.models.text.edits import BadOffsets, SlotLost, apply_edits, split_at_slots

# Plain letters, spaces, combining accents, emoji with joiners and skin tones, right-to-left and control characters.
CHARACTERS = st.sampled_from(list("abc XY1é\u0301\u200d\u05d0\u0627\u202e\x00\t😀👍🏽中"))
TEXTS = st.text(CHARACTERS, max_size=40)


@st.composite
def stretches(draw, text, allow_empty):
    borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=10, unique=not allow_empty)))
    pairs = list(zip(borders[::2], borders[1::2], strict=False))
    return [(begin, end) for begin, end in pairs if allow_empty or begin < end]


@st.composite
def examples(draw, replacement=st.text(CHARACTERS, min_size=6, max_size=12)):
    text = draw(TEXTS)
    slots = [Slot(b, e, f"slot{i}") for i, (b, e) in enumerate(draw(stretches(text, allow_empty=False)))]
    spans = [Span(begin, end, "PER") for begin, end in draw(stretches(text, allow_empty=False))]
    edits = [Edit(span.begin, span.end, draw(replacement)) for span in split_at_slots(text, spans, slots)]
    return text, edits, slots


@given(examples())
def test_slots_keep_name_order_and_at_least_one_character(example):
    text, edits, slots = example
    new_text, moved = apply_edits(text, edits, slots)
    assert [slot.name for slot in moved] == [slot.name for slot in slots]
    at = 0
    for slot in moved:
        assert at <= slot.begin < slot.end <= len(new_text)
        at = slot.end


@given(examples())
def test_text_outside_the_edits_is_unchanged(example):
    text, edits, slots = example
    new_text, _ = apply_edits(text, edits, slots)
    at, rest = 0, new_text
    for edit in edits:
        kept = text[at : edit.begin] + edit.replacement
        assert rest.startswith(kept)
        rest, at = rest[len(kept) :], edit.end
    assert rest == text[at:]


@given(examples())
def test_slots_that_no_edit_touches_keep_their_words(example):
    text, edits, slots = example
    new_text, moved = apply_edits(text, edits, slots)
    for old, new in zip(slots, moved, strict=True):
        if all(edit.end <= old.begin or old.end <= edit.begin for edit in edits) and text[old.begin : old.end].strip():
            assert new_text[new.begin : new.end] == text[old.begin : old.end].strip()


@given(examples())
def test_a_slot_that_equals_an_edit_becomes_its_replacement(example):
    text, edits, _ = example
    slots = [Slot(edit.begin, edit.end, "value") for edit in edits]
    new_text, moved = apply_edits(text, edits, slots)
    for edit, slot in zip(edits, moved, strict=True):
        assert new_text[slot.begin : slot.end] == (edit.replacement.strip() or edit.replacement)


def test_an_edit_across_two_slots_goes_to_the_one_it_covers_more_of():
    text = "call john smith at six pm"
    new_text, moved = apply_edits(text, [Edit(10, 22, "[X]")], [Slot(5, 15, "name"), Slot(16, 25, "time")])
    assert new_text == "call john [X] pm"
    assert [new_text[slot.begin : slot.end] for slot in moved] == ["john", "[X] pm"]


def test_two_slots_inside_one_edit_share_the_words_of_its_replacement():
    new_text, moved = apply_edits(
        "on monday at six", [Edit(3, 16, "friday noon")], [Slot(3, 9, "day"), Slot(13, 16, "hour")]
    )
    assert [new_text[slot.begin : slot.end] for slot in moved] == ["friday", "noon"]


def test_a_slot_with_nothing_left_is_refused():
    with pytest.raises(SlotLost):
        apply_edits("call john", [Edit(5, 9, "")], [Slot(5, 9, "name")])
    with pytest.raises(SlotLost):  # and is not given half a word
        apply_edits("a b c", [Edit(0, 5, "[LOC]")], [Slot(0, 1, "first"), Slot(2, 3, "second")])


@pytest.mark.parametrize(
    ("edits", "slots"),
    [
        ([Edit(0, 3, "x"), Edit(2, 4, "y")], []),
        ([Edit(3, 99, "x")], []),
        ([], [Slot(-1, 2, "s")]),
        ([], [Slot(0, 3, "s"), Slot(1, 2, "t")]),
        ([Edit(3, 1, "x")], []),
    ],
)
def test_offsets_that_make_no_sense_are_refused(edits, slots):
    with pytest.raises(BadOffsets):
        apply_edits("hello", edits, slots)
