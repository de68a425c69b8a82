"""What stands in a gap, by a language model: trigrams of the words around it and the values that stood there, interpolated.

log P(value | two words before) + log P(word after | word before, value) + log P(second word after | value, first): each from the
counts of the longest context and, behind it, of shorter ones (Jelinek and Mercer 1980). A value is one word of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.audit.material import ReplacedValue

LONGER = 0.7  # of a context, beside the one that is a word shorter
EDGE = "</s>"
Key = tuple[str, ...]  # an "_" stands where the value does


@dataclass(frozen=True, repr=False)
class GapLanguageModel:
    """Learnt from gaps whose values are known."""

    values: Mapping[str, int]
    counts: np.ndarray  # of each value
    beside: Mapping[Key, Counter[int]]  # how often each value stood there
    words: Mapping[Key, int]  # how often these words stood after a gap, whatever was in it

    @classmethod
    def of(cls, gaps: Sequence[ReplacedValue], values: Mapping[str, int]) -> GapLanguageModel:
        counts = np.zeros(len(values))
        beside: dict[Key, Counter[int]] = {}
        words: Counter[Key] = Counter()
        for gap in gaps:
            counts[values[gap.value]] += 1
            for key in _contexts(gap):
                beside.setdefault(key, Counter())[values[gap.value]] += 1
            *_, after, second = _around(gap)
            words.update([(after,), (after, second)])
        return cls(values, counts, beside, words)

    def scores(self, gap: ReplacedValue) -> np.ndarray:
        """Log probabilities but for what is the same of all values."""
        before_two, before_one, between, after_one, after_two = (self._seen(key) for key in _contexts(gap))
        *_, after, second = _around(gap)
        total = self.counts.sum()
        alone = (self.words.get((after,), 0) + 1) / (total + 1)
        then = (self.words.get((after, second), 0) + 1) / (self.words.get((after,), 0) + total)
        value = _mixed(before_two, before_two.sum(), _mixed(before_one, before_one.sum(), self.counts / total))
        first = _mixed(between, before_one, _mixed(after_one, self.counts, np.full(len(self.counts), alone)))
        return np.log(value) + np.log(first) + np.log(_mixed(after_two, after_one, np.full(len(self.counts), then)))

    def _seen(self, key: Key) -> np.ndarray:
        found = np.zeros(len(self.counts))
        seen = self.beside.get(key)
        if seen:
            found[list(seen)] = list(seen.values())
        return found


def _mixed(times: np.ndarray, of: np.ndarray | float, shorter: np.ndarray) -> np.ndarray:
    """Where the longer context was never seen, the shorter one alone."""
    of = np.broadcast_to(of, times.shape)
    longer = np.divide(times, of, out=np.zeros_like(times), where=of > 0)
    return np.where(of > 0, LONGER * longer + (1 - LONGER) * shorter, shorter)


def _around(gap: ReplacedValue) -> tuple[str, str, str, str]:
    before, after = (EDGE, EDGE, *gap.before)[-2:], (*gap.after, EDGE, EDGE)[:2]
    return (*before, *after)


def _contexts(gap: ReplacedValue) -> tuple[Key, Key, Key, Key, Key]:
    two, one, after, second = _around(gap)
    return (two, one, "_"), (one, "_"), (one, "_", after), ("_", after), ("_", after, second)
