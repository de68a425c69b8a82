"""How well a model understands: semantic error rate, intent accuracy, slot F1.

SER (as Dupuy et al. report it) counts the intent as one more slot: (substituted + inserted + deleted) divided by the
slots of the reference. A slot is right when its words and its name are; one that overlaps a slot of the reference with
other borders or another name is a substitution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scores:
    """How a model did on so many `examples`; `ser` is the semantic error rate, and lower is better."""

    ser: float
    intent_accuracy: float
    slot_f1: float
    examples: int
    intents_answered: int = 0  # how many different ones: a model that learnt nothing has one answer


@dataclass(frozen=True)
class Understood:
    """An intent and the tags of the words."""

    intent: str
    tags: tuple[str, ...]


def slots_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """(first word, word after the last, name); an I- that continues nothing begins a slot."""
    slots: list[tuple[int, int, str]] = []
    for place, tag in enumerate(tags):
        if tag == "O":
            continue
        continues = tag[0] == "I" and slots and slots[-1][1] == place and slots[-1][2] == tag[2:]
        if continues:
            slots[-1] = (slots[-1][0], place + 1, tag[2:])
        else:
            slots.append((place, place + 1, tag[2:]))
    return slots


def score(pairs: Iterable[tuple[Understood, Understood]]) -> Scores:
    """Pairs of (reference, answer)."""
    examples = right_intents = errors = reference_slots = right = answered = 0
    intents: set[str] = set()
    for reference, answer in pairs:
        examples += 1
        intents.add(answer.intent)
        right_intents += reference.intent == answer.intent
        wanted, given = slots_of(reference.tags), slots_of(answer.tags)
        matched, wrong = _compare(wanted, given)
        errors += wrong + (reference.intent != answer.intent)
        reference_slots += len(wanted)
        answered += len(given)
        right += matched
    if examples == 0:
        return Scores(0.0, 0.0, 0.0, 0)
    f1 = 2 * right / (reference_slots + answered) if reference_slots + answered else 1.0
    return Scores(errors / (reference_slots + examples), right_intents / examples, f1, examples, len(intents))


def _compare(wanted: list[tuple[int, int, str]], given: list[tuple[int, int, str]]) -> tuple[int, int]:
    """(right, wrong): exact matches, and substitutions, deletions and insertions together."""
    exact = set(wanted) & set(given)
    missed = [slot for slot in wanted if slot not in exact]
    spurious = [slot for slot in given if slot not in exact]
    for begin, end, _ in missed:
        overlapping = next((slot for slot in spurious if slot[0] < end and begin < slot[1]), None)
        if overlapping:
            spurious.remove(overlapping)  # the two together are one substitution
    return len(exact), len(missed) + len(spurious)
