"""Attacker: gets what each night hands on of a corpus whose records have no ids, and looks for sentences that come twice.

Between the nights a line was added on top, or the corpus file was renamed: records that are known by file and line alone
are then new ones, with new draws for the same words.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened
from whole_runs import sottovoce, texts_of

pytestmark = pytest.mark.slow
SENTENCES = [f"call alice on line {number}" for number in range(10)]
NAMELESS = [{"text": text} for text in SENTENCES]
NAMED = dialogues(3, say=lambda dialogue, turn: f"good evening {dialogue} {turn}")
TOP = [{"text": f"good morning, number {number}"} for number in range(4)]
PLACES_ARE_NAMES = {"sottovoce.transforms.nightly.recognise:_OnlyRecognisable.one": lambda self, utterance: utterance}


def attack(released: Released) -> int:
    """How many sentences were released more than once, told by their numbers."""
    found: Counter[str] = Counter()
    for run in released.runs:
        found.update(text.rpartition(" ")[2] for text in texts_of(run) if " on line " in text)
    return sum(count > 1 for count in found.values())


def nights_with_lines_on_top(operator: Operator) -> Released:
    for records in (NAMELESS, [*TOP, *NAMELESS], [*TOP, *NAMED, *NAMELESS]):
        night(operator, records)
    return operator.hand_over()


def nights_with_a_renamed_file(operator: Operator) -> Released:
    night(operator, NAMELESS)
    again_under_another_name(operator, "nightly")
    return operator.hand_over()


def runs_with_a_renamed_file(operator: Operator) -> Released:
    operator.run(NAMELESS)
    again_under_another_name(operator, "sanitize")
    return operator.hand_over()


def again_under_another_name(operator: Operator, command: str) -> None:
    corpus = operator.home / "corpus"
    (corpus / "manifest.jsonl").rename(corpus / "another.jsonl")
    paths = ("--input", corpus, "--output", operator.out("out"), "--secret-file", operator.secret_file)
    sottovoce(command, *paths, "--config", job_of(operator), "--set", "detect=rules")


def job_of(operator: Operator) -> Path:
    (operator.home / "job.yaml").write_text("")
    return operator.home / "job.yaml"


def night(operator: Operator, records: list) -> None:
    operator.run(records, "--config", job_of(operator), command="nightly")


HISTORIES = [nights_with_lines_on_top, nights_with_a_renamed_file, runs_with_a_renamed_file]


@pytest.mark.parametrize("history", HISTORIES)
def test_records_known_by_their_place_are_released_again(tmp_path, history):
    with weakened("the refusal of records without ids", PLACES_ARE_NAMES):
        released = history(Operator(tmp_path))
    assert as_outsider(attack, released) >= 3


@pytest.mark.parametrize("history", HISTORIES)
def test_no_sentence_is_released_twice(tmp_path, history):
    assert as_outsider(attack, history(Operator(tmp_path))) == 0
