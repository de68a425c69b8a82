"""Randomised response on one value: keep it with probability 1 - p, otherwise draw from its list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.models.text.replace.distribution import Distribution, Draws, ListDistribution
from sottovoce.models.text.replace.randomised_response import epsilon_of, p_for, token_dependent_p


@dataclass(frozen=True)
class Response:
    """A list with its probability of replacing: one `p`, or one for each value in `p_of`."""

    distribution: Distribution
    p: float
    epsilon: float
    p_of: Mapping[str, float] | None = None

    @property
    def mean_p(self) -> float:
        """Probability that a value drawn from the list itself is replaced."""
        if self.p_of is None or not isinstance(self.distribution, ListDistribution):
            return self.p
        return float(np.dot(self.distribution.probabilities, [self.p_of[value] for value in self.distribution]))

    def answer(self, value: str, draws: Draws, always: bool = False) -> str:
        """A value outside the list is always replaced, and so is any value with `always`."""
        p = self.p if self.p_of is None else self.p_of.get(value, 1.0)
        if draws.uniform() >= p and not always and value in self.distribution:
            return value
        return self.distribution.draw(draws)


def respond_with(distribution: Distribution, p: float) -> Response:
    """Response with one p for all values, and the epsilon that it costs on this list."""
    return Response(distribution, p, epsilon_of(p, distribution.pi_min))


def respond_within(distribution: Distribution, epsilon: float, by_token: bool) -> Response:
    """p from epsilon. Pairs have too many values for a p of each: they get one p, which gives the same epsilon."""
    if by_token and isinstance(distribution, ListDistribution):
        found = token_dependent_p(epsilon, distribution.probabilities)
        p_of = dict(zip(distribution.values, map(float, found.p), strict=True))
        return Response(distribution, float(found.p.max()), epsilon, p_of)
    return Response(distribution, p_for(epsilon, distribution.pi_min), epsilon)
