"""Reconstruction of masked words: what stands around a gap is used to guess what stood in it.

The attacker has the release, and in clear the texts of half of the people, more than an outsider is likely to have. It
learns there which values stand beside which words, in two ways, and names the likeliest value for each gap of the other people;
then the halves change places. By a language model (`gap_language_model.py`); and by what stands beside it, P(value) * product of
P(word at this place | value) with the counts smoothed, which also looks at what stands in place of the value and at how many
words of it: a strategy that keeps the length of a name tells by it. The way that wins more is the headline. The control names
the commonest value without a look at the gap: that some names are common is not the release's doing.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.gap_language_model import GapLanguageModel
from sottovoce.models.evaluation.audit.material import Material, ReplacedValue
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials

WAYS = ("words beside it", "a language model")
SMOOTHING = 0.1
TOP = 10
ALIKE = 1e-9  # sums of the same logarithms in another order


class MaskedWordsAttack:
    """Reconstruction of replaced words in text, from which values stand beside which words in other people's texts."""

    criterion: ClassVar[Criterion] = "inference"
    says = "has the release, and texts of other people in clear; guesses replaced words from the words around them"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        if isinstance(material.gaps, NotMeasurable | NotApplicable):
            return {"all sinks": material.gaps}
        sinks = dict.fromkeys(gap.sink for gap in material.gaps)
        found = {sink: _guessed([gap for gap in material.gaps if gap.sink == sink]) for sink in sinks}
        return found or {"all sinks": NotApplicable("no word of the sampled records was replaced")}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=True)


def _guessed(gaps: Sequence[ReplacedValue]) -> Outcome:
    people = sorted({gap.person for gap in gaps})
    if len(people) < MIN_PEOPLE:
        return NotMeasurable(f"at least {MIN_PEOPLE} people with replaced words; there are {len(people)}")
    half = {person: place % 2 for place, person in enumerate(people)}
    control = np.zeros(len(gaps))
    hits, ranks = ({name: np.zeros(len(gaps)) for name in WAYS} for _ in range(2))
    for fold in (0, 1):
        learned = _Contexts.of(known := [gap for gap in gaps if half[gap.person] != fold])
        model = GapLanguageModel.of(known, learned.values)
        tried = sorted(
            (place for place, gap in enumerate(gaps) if half[gap.person] == fold), key=lambda n: _around(gaps[n])
        )
        for _, alike in itertools.groupby(tried, key=lambda n: _around(gaps[n])):
            places = list(alike)
            by_way = dict(zip(WAYS, (learned.scores(gaps[places[0]]), model.scores(gaps[places[0]])), strict=True))
            for place in places:
                for name, scores in by_way.items():
                    hits[name][place], ranks[name][place] = _ranked(learned, scores, gaps[place].value)
                control[place], _ = _ranked(learned, learned.log_counts, gaps[place].value)
    best = max(WAYS, key=lambda name: float(hits[name].mean()))
    more = {f"right by {name}": float(found.mean()) for name, found in hits.items()}
    more |= {f"true value among the first {TOP}": float((ranks[best] <= TOP).mean())}
    more |= {"median rank": float(np.median(ranks[best])), "values": float(len({gap.value for gap in gaps}))}
    return Trials(hits[best], control, [gap.person for gap in gaps], more)


def _around(gap: ReplacedValue) -> tuple[tuple[str, ...], ...]:
    """All that a guess depends on."""
    return gap.before, gap.after, gap.instead


@dataclass(frozen=True, repr=False)
class _Contexts:
    """Which values stand beside which words, in texts that the attacker has in clear."""

    values: dict[str, int]
    log_counts: np.ndarray
    beside: dict[tuple[int, str], tuple[np.ndarray, np.ndarray]]
    unseen: np.ndarray  # log P(word at this place | value), of a word that was not seen there

    @classmethod
    def of(cls, gaps: Sequence[ReplacedValue]) -> _Contexts:
        values = {value: place for place, value in enumerate(sorted({gap.value for gap in gaps}))}
        counts = np.zeros(len(values))
        beside: dict[tuple[int, str], Counter[int]] = {}
        for gap in gaps:
            counts[values[gap.value]] += 1
            for feature in _features(gap):
                beside.setdefault(feature, Counter())[values[gap.value]] += 1
        words = len(beside) + 1
        rows = {feature: _raised(seen) for feature, seen in beside.items()}
        return cls(values, np.log(counts), rows, np.log(SMOOTHING) - np.log(counts + SMOOTHING * words))

    def scores(self, gap: ReplacedValue) -> np.ndarray:
        features = _features(gap)
        scores = self.log_counts + len(features) * self.unseen
        for feature in features:
            if feature in self.beside:
                values, raised = self.beside[feature]
                scores[values] += raised
        return scores


def _raised(seen: Counter[int]) -> tuple[np.ndarray, np.ndarray]:
    """(values, by how much a word that was seen beside them makes them likelier than one that was not)"""
    counts = np.fromiter(seen.values(), float, len(seen))
    return np.fromiter(seen, int, len(seen)), np.log((counts + SMOOTHING) / SMOOTHING)


def _features(gap: ReplacedValue) -> list[tuple[int, str]]:
    before = [(-1 - place, word) for place, word in enumerate(reversed(gap.before))]
    instead = [(0, " ".join(gap.instead)), (0, f"{len(gap.instead)} words")] if gap.instead else []
    return before + instead + [(1 + place, word) for place, word in enumerate(gap.after)]


def _ranked(learned: _Contexts, scores: np.ndarray, value: str) -> tuple[float, float]:
    """(the share of right ones among the best, the rank of the true value; last where the attacker does not know it)."""
    if value not in learned.values:
        return 0.0, float(len(learned.values) + 1)
    own = scores[learned.values[value]]
    ahead, equal = np.count_nonzero(scores > own + ALIKE), np.count_nonzero(np.abs(scores - own) <= ALIKE)
    return (1.0 / equal if ahead == 0 else 0.0), 1 + ahead + (equal - 1) / 2


def _invented(rng: np.random.Generator, told: bool) -> Material:
    """Ten values; the word before the gap is the value's own, or any."""
    gaps = []
    for person in range(60):
        for _ in range(4):
            value = int(rng.integers(10))
            word = value if told else int(rng.integers(10))
            gaps.append(ReplacedValue("slu", f"p{person}", ("call", f"cue{word}"), ("please",), f"value{value}"))
    return Material((), gaps=gaps)
