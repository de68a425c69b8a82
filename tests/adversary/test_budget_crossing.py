"""Attacker: reads the released dialogues of a night whose speakers run out of budget, and knows the public lists of names.

Within a dialogue `consistent` gives an entity one surrogate. If a budget that ends in the middle of a dialogue replaces the
later mentions of a name whatever its coin said, the earlier ones differ from them exactly where the coin kept the name.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from adversary import NAMES, Operator, Released, as_outsider, assert_learnt, assert_only_guessed, dialogues, weakened

from sottovoce.models.text.replace.consistent import Consistent

P, COUNT = 0.5, 80
STRATEGY = Consistent(p=P, keep_gender=False)
EPSILON = STRATEGY._response("given_names").epsilon
RECORDS = dialogues(COUNT, say=lambda d, t: (f"call {NAMES[d % 3]}", f"is it {NAMES[d % 3]} or dave")[t])
JOB = {
    "replace": {"use": "consistent", "p": P, "keep_gender": False},
    "sinks": {"dm": 1},
    "nightly": {"speaker_epsilon": 1.5 * EPSILON, "beyond_budget": "replace_always"},
}


def night(folder: Path) -> Released:
    job = folder / "job.yaml"
    job.write_text(json.dumps(JOB))
    return Operator(folder).release(RECORDS, "--config", job, command="nightly")


def attack(released: Released) -> list[str]:
    """For each dialogue whose mentions of one entity differ, the first mention: what the attacker takes for the name."""
    claims = []
    for dialogue in released.rows("dm"):
        first, second = (turn["text"].split() for turn in dialogue["turns"])
        if first[-1] != second[2]:
            claims.append(first[-1])
    return claims


def guess(released: Released) -> list[str]:
    return [dialogue["turns"][0]["text"].split()[-1] for dialogue in released.rows("dm")]


def chance() -> float:
    distribution = STRATEGY._response("given_names").distribution
    return max(distribution.probabilities[distribution.index[name]] for name in NAMES)


@pytest.mark.slow
def test_a_budget_that_ends_within_a_dialogue_gives_the_names_away(tmp_path):
    by_turn = {
        "sottovoce.transforms.nightly.speaker_budget:decided_together": lambda secret, turn: secret.token(
            "by turn", turn.id
        )
    }
    with weakened("one decision for a dialogue", by_turn):
        released = night(tmp_path)
    claims = as_outsider(attack, released)
    assert set(claims) <= set(NAMES), "every claim is the name that was said"
    assert_learnt(len(claims), len(claims), chance())


@pytest.mark.slow
def test_our_dialogues_beyond_the_budget_show_no_name_more_often_than_a_draw_does(tmp_path):
    released = night(tmp_path)
    assert not as_outsider(attack, released)
    guesses = as_outsider(guess, released)
    assert len(guesses) == COUNT
    assert_only_guessed(sum(name in NAMES[:3] for name in guesses), COUNT, 3 * chance())
