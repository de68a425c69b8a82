"""Where surrogates are drawn from: lists of values with probabilities.

What may come in is what may come out: a value keeps its epsilon only because it could also have been drawn. Drawing the
value that was there is never forbidden; that would give it away (at p = 1 with certainty).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sottovoce.models.randomness import Secret


class Draws:
    """The stream of keyed draws of one unit: the same again on every retry. One digest gives four draws of 53 bits."""

    def __init__(self, secret: Secret, *parts: str | int):
        self._secret, self._parts, self._blocks, self._bytes = secret, parts, 0, b""

    def uniform(self) -> float:
        if not self._bytes:
            self._bytes = self._secret.digest("replace", *self._parts, self._blocks)
            self._blocks += 1
        eight, self._bytes = self._bytes[:8], self._bytes[8:]
        return (int.from_bytes(eight, "big") >> 11) / float(1 << 53)

    def below(self, size: int) -> int:
        """A whole number in [0, size). The rounding of 53 bits shifts no probability by more than size / 2^53."""
        return int(self.uniform() * size)


class Distribution(Protocol):
    """What a strategy draws surrogates from, and whether a value is among them."""

    @property
    def pi_min(self) -> float:
        """The probability of the rarest value, which bounds epsilon."""

    def __contains__(self, value: object) -> bool: ...

    def draw(self, draws: Draws) -> str:
        """One value, by keyed draws: the same draws give the same value."""


class ListDistribution:
    """Values with their probabilities."""

    def __init__(self, weights: Mapping[str, float], mix: float = 0.0):
        """`mix` is the share of the uniform distribution, which keeps the rarest value from becoming too rare."""
        self.values = tuple(weights)
        raw = np.array([weights[value] for value in self.values], dtype=float)
        self.probabilities = (1 - mix) * raw / raw.sum() + mix / len(raw)
        self.index = {value: at for at, value in enumerate(self.values)}
        self.pi_min = float(self.probabilities.min())
        self._cumulative = np.cumsum(self.probabilities).tolist()

    def __contains__(self, value: object) -> bool:
        return value in self.index

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def draw(self, draws: Draws) -> str:
        at = bisect_right(self._cumulative, draws.uniform() * self._cumulative[-1])
        return self.values[min(at, len(self.values) - 1)]


@dataclass(frozen=True)
class PairDistribution:
    """Two independent draws joined by a space: a given name and a surname."""

    first: ListDistribution
    second: ListDistribution

    @property
    def pi_min(self) -> float:
        return self.first.pi_min * self.second.pi_min

    def __contains__(self, value: object) -> bool:
        first, _, second = str(value).partition(" ")
        return first in self.first and second in self.second

    def draw(self, draws: Draws) -> str:
        return f"{self.first.draw(draws)} {self.second.draw(draws)}"
