"""Randomised response over a list of values: what it gives, exactly.

M(t | t') = (1 - p) [t = t'] + p pi(t), with pi public and independent of t' (Adelani et al. 2020, section 4).
Tight: epsilon = ln(1 + (1 - p) / (p pi_min)), pi_min the smallest probability over the values that may come in; values
outside the list are always replaced, which costs nothing more. The whole trade-off is
delta(epsilon) = max(0, (1 - p) - (e^epsilon - 1) p pi_min).

Independent units compose. Pure epsilons add, and that is tight. For (epsilon, delta), the dominating pair has three
outcomes, {1 - p + p pi_min, p pi_min, rest}, with privacy losses +epsilon, -epsilon and 0, so the loss of k units is a
sum over a trinomial: computed here term by term, with no discretisation unless a grid is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.models.settings import require

Floats = np.ndarray
_GRID_POINTS = 4001
_TINY = 1e-300


def epsilon_of(p: float, pi_min: float) -> float:
    """Epsilon of one unit; infinite where a value may be kept that could not have been drawn."""
    if p >= 1:
        return 0.0
    return math.log1p((1 - p) / (p * pi_min)) if p * pi_min > 0 else math.inf


def p_for(epsilon: float, pi_min: float) -> float:
    """The smallest probability of replacing that keeps one unit within epsilon."""
    return 1 / (1 + pi_min * math.expm1(epsilon))


def delta_at(epsilon: float, p: float, pi_min: float) -> float:
    """The exact delta of one unit at any epsilon; at 0 it is 1 - p, the chance that the value is simply kept."""
    return max(0.0, (1 - p) - math.expm1(epsilon) * p * pi_min)


def random_miss_epsilon(p: float, pi_min: float, recall: float) -> float:
    """Nominal only: were misses coin flips, p would shrink to recall * p. A real detector misses the same words always."""
    return epsilon_of(recall * p, pi_min)


def mixed_minimum(pi_min: float, share: float, size: int) -> float:
    """pi_min of (1 - share) pi + share * uniform over `size` values."""
    return (1 - share) * pi_min + share / size


def zipf(size: int) -> Floats:
    """Zipf's law with exponent 1: the shape of word frequencies, for planning without a corpus."""
    weights = 1.0 / np.arange(1, size + 1)
    return weights / weights.sum()


@dataclass(frozen=True)
class TokenDependent:
    """`p[i]` replaces value i; `p_min` is the bound that the guarantee rests on; `kept` the share of mass left as it was."""

    p_min: float
    p: Floats
    kept: float


def token_dependent_p(epsilon: float, pi: Floats) -> TokenDependent:
    """p(t) for each value: common values are kept far more often than under one p, at the same epsilon.

    M(t | t') = (1 - p(t')) [t = t'] + p(t') pi(t) is epsilon-DP iff (1 - p(t)) / pi(t) + p(t) <= e^epsilon p_min and
    p_max <= e^epsilon p_min. A value outside the list, always replaced, has p = 1: so p_min >= e^-epsilon. Every such
    p_min is private; the one that keeps most of the mass of pi is looked for on a grid. What is kept is concave in
    p_min (a sum of minima of lines), so halving finds the top.
    """

    def at(step: int) -> TokenDependent:
        p_min = float(grid[step])
        p = np.maximum(p_min, (1 - math.exp(epsilon) * pi * p_min) / np.maximum(1 - pi, _TINY))
        return TokenDependent(p_min, p, float(pi @ (1 - p)))

    grid = np.linspace(math.exp(-epsilon), 1.0, _GRID_POINTS)
    low, high = 0, _GRID_POINTS - 1
    while low < high:
        middle = (low + high) // 2
        if at(middle + 1).kept > at(middle).kept:
            low = middle + 1
        else:
            high = middle
    return at(low)


class Composition:
    """k independent units of randomised response, each with its own coin."""

    def __init__(self, p: float, pi_min: float, units: int, grid: float = 0.0):
        """`grid` > 0 rounds each loss up to its multiples, as numerical accountants do: never too small, a little large."""
        loss = epsilon_of(p, pi_min)
        require(
            (math.isfinite(loss), f"p: {p:g} is too small: replacing happens so rarely that no epsilon can be computed")
        )
        self.epsilon_pure = units * loss
        up, down = (loss, -loss) if grid == 0 else (math.ceil(loss / grid) * grid, math.ceil(-loss / grid) * grid)
        self._losses, self._masses = _trinomial(units, (1 - p) + p * pi_min, p * pi_min, up, down)

    def delta(self, epsilon: float) -> float:
        """sum over losses l > epsilon of P(l) (1 - e^(epsilon - l))"""
        above = self._losses > epsilon
        return float(np.sum(self._masses[above] * -np.expm1(epsilon - self._losses[above])))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta."""
        if self.delta(0.0) <= delta:
            return 0.0
        from scipy.optimize import brentq  # here: every run would wait half a second for what few need

        return float(brentq(lambda epsilon: self.delta(epsilon) - delta, 0.0, self._losses.max(), xtol=1e-12))


def _trinomial(units: int, mass_up: float, mass_down: float, up: float, down: float) -> tuple[Floats, Floats]:
    """Losses and masses of the sum of `units` three-valued losses, in logarithms so that tiny masses survive."""
    from scipy.special import gammaln

    losses, masses = [], []
    rest = max(0.0, 1 - mass_up - mass_down)
    log_up, log_down = math.log(mass_up), math.log(mass_down) if mass_down > 0 else -math.inf
    log_rest = math.log(rest) if rest > 0 else -math.inf
    for ups in range(units + 1):
        downs = np.arange(units - ups + 1)
        others = units - ups - downs
        log_ways = gammaln(units + 1) - gammaln(ups + 1) - gammaln(downs + 1) - gammaln(others + 1)
        logs = log_ways + ups * log_up + _times(downs, log_down) + _times(others, log_rest)
        losses.append(ups * up + downs * down)
        masses.append(np.exp(logs))
    return np.concatenate(losses), np.concatenate(masses)


def _times(counts: Floats, log_mass: float) -> Floats:
    """counts * log_mass with 0 * -inf = 0."""
    return np.where(counts == 0, 0.0, counts * log_mass if math.isfinite(log_mass) else -math.inf)
