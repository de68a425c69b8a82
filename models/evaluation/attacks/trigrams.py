"""A 3-gram language model with interpolated absolute discounting: small, exact, enough for an attacker's guess.

With a gap it tells of a word what two words foretell that stand `gap` words further back: P(w_i | w_{i-g-2}, w_{i-g-1}).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

DISCOUNT = 0.75
BEGIN = "<s>"


class Trigrams:
    """The model of the texts that an attacker has. `gap`: how many words lie between a word and those that foretell it."""

    def __init__(self, sentences: Sequence[Sequence[str]], gap: int = 0):
        self._counts: dict[int, Counter[tuple[str, ...]]] = {order: Counter() for order in (1, 2, 3)}
        for sentence in sentences:
            words = [*[BEGIN] * (2 + gap), *sentence]
            for order in (1, 2, 3):
                self._counts[order].update(
                    (*words[i - gap - order + 1 : i - gap], words[i]) for i in range(2 + gap, len(words))
                )
        self._totals: Counter[tuple[str, ...]] = Counter()
        self._kinds: Counter[tuple[str, ...]] = Counter()
        for counts in self._counts.values():
            for gram, count in counts.items():
                self._totals[gram[:-1]] += count
                self._kinds[gram[:-1]] += 1
        self._vocabulary = len(self._counts[1]) + 1

    def log_probability(self, words: Sequence[str], context: Sequence[str]) -> float:
        """log P(words | context); an empty context means that nothing is known of what came before."""
        known = list(context)[-2:]
        total = 0.0
        for word in words:
            total += math.log(self._probability(word, tuple(known)))
            known = [*known, word][-2:]
        return total

    def _probability(self, word: str, context: tuple[str, ...]) -> float:
        total = self._totals[context]
        shorter = self._probability(word, context[1:]) if context else 1.0 / self._vocabulary
        if not total:
            return shorter
        count = self._counts[len(context) + 1][(*context, word)]
        left_over = DISCOUNT * self._kinds[context] / total
        return max(count - DISCOUNT, 0.0) / total + left_over * shorter
