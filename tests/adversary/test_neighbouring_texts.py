"""Attacker: has two releases of neighbouring corpora under one secret (records changed, the rest kept) and compares them.

Names are kept or replaced by a coin of probability 1/2 each. One release leaves a name in doubt; two must not settle it:
neither that of a record that changed (its coins must be new), nor that of one that did not (its coins must be the same).
"""

from __future__ import annotations

import secrets

import pytest
from adversary import NAMES, Operator, Released, as_outsider, assert_learnt, assert_only_guessed, dialogues, weakened

pytestmark = pytest.mark.slow
COUNT, CHANGED = 400, 100  # the first 100 dialogues name somebody else in the second corpus
FLAGS = ("--set", "sinks={slu: 1}", "--set", "replace={use: full, p: 0.5}")
BEFORE = [NAMES[number % 2] for number in range(COUNT)]  # alice and bob
AFTER = [NAMES[2 + number % 2] if number < CHANGED else name for number, name in enumerate(BEFORE)]  # carol and dave


def corpus(names: list[str]) -> list[dict]:
    return dialogues(COUNT, turns=1, say=lambda dialogue, turn: f"call {names[dialogue]} about order {dialogue}")


def attack(first: Released, second: Released) -> tuple[dict[int, tuple[str, str]], dict[int, str]]:
    """Names held to be true, by order number. Where the releases differ: both, for a coin that fell the same way twice has
    kept both. Where they agree: that one, for two surrogates would hardly agree."""
    shown = [{int(text.split()[-1]): text.split()[1] for text in _texts(release)} for release in (first, second)]
    differing = {number: (name, shown[1][number]) for number, name in shown[0].items() if name != shown[1][number]}
    return differing, {number: name for number, name in shown[0].items() if number not in differing}


def _texts(released: Released) -> list[str]:
    return [row["text"] for row in released.rows("slu")]


def releases(operator: Operator) -> tuple[Released, Released]:
    first = operator.release(corpus(BEFORE), *FLAGS, out="first", corpus="corpus")
    return first, operator.release(corpus(AFTER), *FLAGS, out="second", corpus="corpus")


def named_without_the_text(self, utterance, secret):
    return lambda unit: (utterance.dialogue_id, utterance.id, unit.begin)


def named_for_this_run_alone(self, utterance, secret):
    return lambda unit: (secrets.token_hex(), unit.begin)


PLACE = "sottovoce.models.text.replace.surrogate:Surrogate._naming"
# Both true although the coins are independent: a quarter, and a little for surrogates that are the truth by luck.
BOTH_BY_CHANCE, ONE_BY_CHANCE = 0.27, 0.52


def right(differing: dict[int, tuple[str, str]]) -> int:
    return sum(pair == (BEFORE[number], AFTER[number]) for number, pair in differing.items())


def test_coins_that_do_not_know_the_text_give_the_changed_names_away(tmp_path):
    with weakened("the text in the key of a draw", {PLACE: named_without_the_text}):
        differing, _ = as_outsider(attack, *releases(Operator(tmp_path)))
    assert right(differing) == len(differing)
    assert_learnt(right(differing), len(differing), BOTH_BY_CHANCE)


def test_coins_of_each_run_give_the_unchanged_names_away(tmp_path):
    with weakened("coins that repeat", {PLACE: named_for_this_run_alone}):
        _, agreeing = as_outsider(attack, *releases(Operator(tmp_path)))
    unchanged = {number: name for number, name in agreeing.items() if number >= CHANGED}
    assert_learnt(sum(BEFORE[number] == name for number, name in unchanged.items()), len(unchanged), ONE_BY_CHANCE)


def test_our_two_releases_tell_no_more_than_their_coins(tmp_path):
    first, second = releases(Operator(tmp_path))
    differing, agreeing = as_outsider(attack, first, second)
    assert max(differing) < CHANGED, "who did not change is released as before"
    assert_only_guessed(right(differing), len(differing), BOTH_BY_CHANCE)
    unchanged = {number: name for number, name in agreeing.items() if number >= CHANGED}
    assert len(unchanged) == COUNT - CHANGED
    assert_only_guessed(
        sum(BEFORE[number] == name for number, name in unchanged.items()), len(unchanged), ONE_BY_CHANCE
    )


def test_of_one_changed_record_only_its_own_row_differs(tmp_path):
    operator = Operator(tmp_path)
    changed = corpus([*BEFORE[:7], "carol", *BEFORE[8:]])
    pair = (operator.release(corpus(BEFORE), *FLAGS, out="a"), operator.release(changed, *FLAGS, out="b"))
    before, after = ({row["id"]: row for row in released.rows("slu")} for released in pair)
    assert before.keys() == after.keys()
    assert {row["text"].split()[-1] for name, row in before.items() if row != after[name]} <= {"7"}
