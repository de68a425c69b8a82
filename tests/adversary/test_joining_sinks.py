"""Attacker: has all sinks of a run and joins what belongs to one dialogue: by words that only it uses, by ids, by order.

Every dialogue here speaks of an order of its own, which no detector marks: where its turns lie, the attacker sees. What
must not be: turns of one dialogue in two sinks (text beside speech), or single lines that stand side by side.
"""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from adversary import Operator, Released, as_outsider, assert_learnt, assert_only_guessed, dialogues, weakened

from sottovoce.transforms.sinks import route
from sottovoce.transforms.sinks.stt_lm import TextSink

pytestmark = pytest.mark.slow
DIALOGUES, TURNS = 60, 4
CORPUS = dialogues(DIALOGUES, TURNS, say=lambda dialogue, turn: f"tell alice about order{dialogue} step {turn}")
SINKS = ("stt_lm", "slu", "dm")


def orders(released: Released, sink: str) -> list[tuple[str, str]]:
    """(id of the row, order) of every turn in a sink, as the files have them."""
    return [
        (row["id"], turn["text"].split()[3])
        for row in released.rows(sink)
        for turn in (row["turns"] if sink == "dm" else [row])
    ]


def attack(released: Released) -> tuple[set[str], int, int, float]:
    """Dialogues found in two sinks; how many neighbours in a sink of single lines are of one dialogue, of how many pairs,
    and the share of pairs that would be in an order that tells nothing (taken as independent, which they nearly are)."""
    sinks_of: dict[str, set[str]] = {}
    for sink in SINKS:
        for _, order in orders(released, sink):
            sinks_of.setdefault(order, set()).add(sink)
    lines = [order for _, order in orders(released, "stt_lm")]
    neighbours = sum(left == right for left, right in itertools.pairwise(lines))
    mated = sum(count * (count - 1) for count in Counter(lines).values())
    chance = mated / (len(lines) * (len(lines) - 1))
    return {order for order, sinks in sinks_of.items() if len(sinks) > 1}, neighbours, len(lines) - 1, chance


ROUTE, ROW = route._Route.process, TextSink.row


def by_utterance(self, batch):
    """A build that routes each turn for itself."""
    for utterance in batch:
        for passed in ROUTE(self, [utterance]):
            tag = route.choose_sink(self._secret, utterance.id, self._weights)
            yield type(passed)(tag, passed.value) if passed.tag in SINKS else passed


def ids_by_dialogue(utterance, secret):
    """A build whose line ids begin with a hash of the dialogue: the order of the file puts its lines side by side."""
    row = ROW(utterance, secret)
    row.columns["id"] = secret.token("dialogue", utterance.dialogue_id)[:24] + row.columns["id"][:8]
    return row


def test_turns_that_are_routed_one_by_one_are_found_in_two_sinks(tmp_path):
    with weakened("one dialogue, one sink", {"sottovoce.transforms.sinks.route:_Route.process": by_utterance}):
        joined, *_ = as_outsider(attack, Operator(tmp_path).release(CORPUS))
    assert len(joined) > DIALOGUES / 2


def test_lines_whose_ids_know_their_dialogue_stand_side_by_side(tmp_path):
    place = "sottovoce.transforms.sinks.stt_lm:TextSink.row"
    with weakened("ids of lines alone", {place: staticmethod(ids_by_dialogue)}):
        _, neighbours, pairs, chance = as_outsider(attack, Operator(tmp_path).release(CORPUS))
    assert_learnt(neighbours, pairs, chance)


def test_our_dialogues_lie_in_one_sink_each_and_their_lines_apart(tmp_path):
    released = Operator(tmp_path).release(CORPUS)
    joined, neighbours, pairs, chance = as_outsider(attack, released)
    assert sum(len(orders(released, sink)) for sink in SINKS) == DIALOGUES * TURNS
    assert not joined
    assert_only_guessed(neighbours, pairs, chance)
    ids = [{name[:8] for name, _ in orders(released, sink)} for sink in SINKS]
    assert all(not left & right for left, right in itertools.combinations(ids, 2))  # by luck: once in 100,000 runs
