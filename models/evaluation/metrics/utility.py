"""What a transformed corpus is still worth: the scores of a model that learns from it and is tested on untouched text.

The study of Adelani et al. ("Privacy guarantees for de-identifying text transformations", Interspeech 2020, Table 2 and
Figure 1): train on data that went through a strategy, test on the test set as it is, compare with no strategy at all.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.models.evaluation.metrics.estimate import student


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """Words with BIO slot tags, and an intent."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    intent: str

    def __repr__(self) -> str:
        return "<Sentence: sensitive>"


@dataclass(frozen=True)
class Score:
    """`slot_f1` is None where neither the test set nor the answers hold a slot. `macro_accuracy` is the mean over intents
    of the share of their sentences that are right: a common intent then weighs no more than a rare one."""

    intent_accuracy: float
    slot_f1: float | None
    macro_accuracy: float = float("nan")


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation over seeds."""

    mean: float
    deviation: float

    def __str__(self) -> str:
        return f"{100 * self.mean:5.2f} ± {100 * self.deviation:4.2f}"


@dataclass(frozen=True)
class Cell:
    """One strategy at one epsilon on one corpus. `epsilon` is that of one replaced unit; None: nothing is replaced.

    `changed` is the share of sensitive entities whose text is no longer what it was; `refused` counts training
    sentences that no longer made a valid example and were left out, summed over seeds; `bits`: of a word of the training
    sentences under a 3-gram model of the untouched test set, which tells how well they read.
    """

    corpus: str
    strategy: str
    epsilon: float | None
    scores: tuple[Score, ...]
    changed: float
    refused: int = 0
    bits: float = float("nan")

    @property
    def accuracy(self) -> Spread:
        """Share of sentences whose intent is right, over seeds."""
        return spread([score.intent_accuracy for score in self.scores])

    @property
    def macro_accuracy(self) -> Spread:
        """Intent accuracy with every intent weighed alike, however rare, over seeds."""
        return spread([score.macro_accuracy for score in self.scores])

    @property
    def slot_f1(self) -> Spread | None:
        """F1 of slots over the seeds that have one; None where no seed has."""
        known = [score.slot_f1 for score in self.scores if score.slot_f1 is not None]
        return spread(known) if known else None

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: means and deviations for readers, every single score for `from_dict`."""
        accuracy, f1 = self.accuracy, self.slot_f1
        return {
            "corpus": self.corpus,
            "strategy": self.strategy,
            "epsilon": self.epsilon,
            "intent_accuracy": accuracy.mean,
            "intent_accuracy_deviation": accuracy.deviation,
            "macro_accuracy": self.macro_accuracy.mean,
            "macro_accuracy_deviation": self.macro_accuracy.deviation,
            "slot_f1": None if f1 is None else f1.mean,
            "slot_f1_deviation": None if f1 is None else f1.deviation,
            "seeds": len(self.scores),
            "changed": self.changed,
            "refused": self.refused,
            "bits_a_word": None if math.isnan(self.bits) else self.bits,
            "scores": [dataclasses.asdict(score) for score in self.scores],
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Cell:
        """What `as_dict` kept."""
        scores = tuple(Score(**score) for score in row["scores"])
        bits = float("nan") if row["bits_a_word"] is None else row["bits_a_word"]
        return cls(row["corpus"], row["strategy"], row["epsilon"], scores, row["changed"], row["refused"], bits)


def against(cell: Cell, plain: Cell, measure: str = "intent_accuracy") -> tuple[float, float] | None:
    """(difference of a measure of `Score`, half of its 95 % interval) to training on untouched data, seed by seed.

    Student's t over seeds: the sampling error of the test set, which all cells share, is not in it.
    """
    pairs = [
        (getattr(mine, measure), getattr(other, measure)) for mine, other in zip(cell.scores, plain.scores, strict=True)
    ]
    if len(pairs) < 2 or any(value is None for pair in pairs for value in pair):
        return None
    found = student([mine - other for mine, other in pairs])
    return found.value, found.high - found.value


def spread(values: Sequence[float]) -> Spread:
    """The deviation of a single value is 0; StatisticsError where there is none."""
    return Spread(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)


def score(wanted: Sequence[Sentence], answered: Sequence[tuple[str, Sequence[str]]]) -> Score:
    """Intent accuracy, and F1 of slots with exactly the right words and name."""
    found = right = asked = 0
    by_intent: dict[str, list[bool]] = {}
    for sentence, (intent, tags) in zip(wanted, answered, strict=True):
        by_intent.setdefault(sentence.intent, []).append(sentence.intent == intent)
        slots, said = slots_of(sentence.tags), slots_of(tags)
        asked, found, right = asked + len(slots), found + len(said), right + len(slots & said)
    accuracy = sum(map(sum, by_intent.values())) / len(wanted)
    macro = statistics.fmean(statistics.fmean(map(float, right_or_not)) for right_or_not in by_intent.values())
    return Score(accuracy, 2 * right / (asked + found) if asked + found else None, macro)


def slots_of(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """(first word, word after the last, name); an I- that continues nothing begins a slot."""
    slots, begin, name = set(), 0, ""
    for at, tag in enumerate([*tags, "O"]):
        if name and tag != f"I-{name}":
            slots.add((begin, at, name))
            name = ""
        if not name and tag != "O":
            begin, name = at, tag[2:]
    return slots
