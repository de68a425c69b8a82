"""Attacker: reads released examples for language understanding, whose slots say where a person's name stood.

The slot of a name that the detector does not know would hold the very name: the label points at what it was to hide.
"""

from __future__ import annotations

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened

RARE = ("zebulon", "xanthippe", "wolfgangus", "quirinius")  # the detector of the quick job knows none of them


def say(dialogue: int, turn: int) -> str:
    return f"please call {RARE[dialogue % len(RARE)]} in turn {turn}"


RECORDS = [
    record | {"slots": [{"name": "person", "begin": 12, "end": 12 + len(record["text"].split()[2])}]}
    for record in dialogues(8, say=say)
]
SINKS = ("--set", "sinks={slu: 1, dm: 1}", "--set", "replace=full")


def attack(released: Released) -> set[str]:
    """What stands in the slots that are called `person`."""
    turns = [turn for dialogue in released.rows("dm") for turn in dialogue["turns"]]
    return {
        row["text"][slot["begin"] : slot["end"]]
        for row in [*released.rows("slu"), *turns]
        for slot in row["slots"]
        if slot["name"] == "person"
    }


@pytest.mark.slow
def test_labels_point_at_names_that_the_detector_missed(tmp_path):
    nothing = {"sottovoce.models.text.detect.labelled_slots:SlotSettings.type_of": lambda self, slot: None}
    with weakened("the spans of sensitive slots", nothing):
        released = Operator(tmp_path).release(RECORDS, *SINKS)
    assert as_outsider(attack, released) == set(RARE)


@pytest.mark.slow
def test_our_slots_hold_surrogates_whatever_the_detector_missed(tmp_path):
    released = Operator(tmp_path).release(RECORDS, *SINKS)
    found = as_outsider(attack, released)
    assert found and not found & set(RARE)
    assert not any(name in content.decode("utf-8", "ignore") for content in released.files().values() for name in RARE)
