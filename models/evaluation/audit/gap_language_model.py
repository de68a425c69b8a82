"""What stands in a gap, by a language model: trigrams of the words around it and the values that stood there, interpolated.

P(value | two words before) * P(word after | word before, value) * P(second word after | value, first), each from the counts of
the longest context and, behind it, of shorter ones (Jelinek and Mercer 1980). A value is one word of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.audit.material import ReplacedValue

LONGER = 0.7  # of a context, beside the one that is a word shorter
SHORTER = 1 - LONGER
EDGE = "</s>"
Key = tuple[str, ...]  # an "_" stands where the value does
Seen = tuple[np.ndarray, np.ndarray]  # (values that stood there, LONGER times the share that each context gives)


@dataclass(frozen=True, repr=False)
class GapLanguageModel:
    """Learnt from gaps whose values are known."""

    shares: np.ndarray  # P(value)
    beside: Mapping[Key, Seen]
    after: Mapping[Key, int]  # how often these words stood after a gap, whatever was in it
    gaps: int

    @classmethod
    def of(cls, gaps: Sequence[ReplacedValue], values: Mapping[str, int]) -> GapLanguageModel:
        counts, after = np.zeros(len(values)), Counter[Key]()
        seen: dict[Key, Counter[int]] = {}
        wholes: dict[Key, Key | None] = {}  # of each context what its counts are shares of: None, of its own sum
        for gap in gaps:
            value, (two, one, first, second) = values[gap.value], _around(gap)
            counts[value] += 1
            after.update([(first,), (first, second)])
            wholes |= {(two, one, "_"): None, (one, "_"): None, (one, "_", first): (one, "_")}
            wholes |= {("_", first): ("_",), ("_", first, second): ("_", first)}
            for key in _contexts(gap):
                seen.setdefault(key, Counter())[value] += 1
        seen["_",] = Counter({value: int(count) for value, count in enumerate(counts)})
        beside = {}
        for key, whole in wholes.items():
            own = seen[key]
            of = [own.total()] * len(own) if whole is None else [seen[whole][value] for value in own]
            beside[key] = (np.array(list(own)), LONGER * np.array(list(own.values())) / np.array(of))
        return cls(counts / counts.sum(), beside, after, len(gaps))

    def scores(self, gap: ReplacedValue) -> np.ndarray:
        """Log probabilities of the values and the words around them. Where a context was never seen, the shorter one alone."""
        before_two, before_one, between, after_one, after_two = (self.beside.get(key) for key in _contexts(gap))
        *_, word, second = _around(gap)
        value = self.shares.copy()
        for known in (before_one, before_two):
            if known:
                value *= SHORTER
                value[known[0]] += known[1]
        first = np.full(len(value), SHORTER * (self.after.get((word,), 0) + 1) / (self.gaps + 1))
        then = np.full(len(value), (self.after.get((word, second), 0) + 1) / (self.after.get((word,), 0) + self.gaps))
        if after_one:
            first[after_one[0]] += after_one[1]
            then[after_one[0]] *= SHORTER
        if before_one:
            first[before_one[0]] *= SHORTER
        for at, known in ((first, between), (then, after_two)):
            if known:
                at[known[0]] += known[1]
        return np.log(value * first * then)


def _around(gap: ReplacedValue) -> tuple[str, str, str, str]:
    (two, one), (first, second) = (EDGE, EDGE, *gap.before)[-2:], (*gap.after, EDGE, EDGE)[:2]
    return two, one, first, second


def _contexts(gap: ReplacedValue) -> tuple[Key, Key, Key, Key, Key]:
    two, one, first, second = _around(gap)
    return (two, one, "_"), (one, "_"), (one, "_", first), ("_", first), ("_", first, second)
