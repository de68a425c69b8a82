"""A lower bound of epsilon from one training: Steinke, Nasr, Jagielski, "Privacy auditing with one training run", NeurIPS 2023.

Each of m canaries is trained on or left out by its own fair coin. From what the training gave, the auditor guesses the coins
of r of them, and v guesses are right. If the training is (epsilon, delta)-private, the number of right ones is no more likely
to reach v than Binomial(r, 1 / (1 + e^-epsilon)) is, but for 2 m delta max_i P[v > Binomial >= v - i] / i (their theorem
5.2). The largest epsilon that is so refuted with a p value below 1 - confidence is a lower bound; that nothing is refuted
proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
FEWEST_GUESSES = 10


@dataclass(frozen=True)
class LowerBound:
    """`epsilon` holds with `CONFIDENCE`. `highest` is what could have been shown had every guess been right."""

    epsilon: float
    highest: float
    guesses: int
    right: int


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """How likely a training with this epsilon and delta lets an auditor be right so often, at most."""
    from scipy.special import bdtrc, betaln, xlog1py, xlogy

    accuracy = 1 / (1 + math.exp(-epsilon))
    reached = float(bdtrc(right - 1, guesses, accuracy)) if right else 1.0
    if not delta:
        return reached
    less = np.arange(right - 1, -1, -1)
    choices = -betaln(1 + guesses - less, 1 + less) - math.log(guesses + 1)
    chances = np.exp(choices + xlogy(less, accuracy) + xlog1py(guesses - less, -accuracy))
    slack = float((chances.cumsum() / np.arange(1, right + 1)).max(initial=0.0))  # P[v > Binomial >= v - i] / i
    return min(1.0, reached + 2 * canaries * delta * slack)


def epsilon_at_least(canaries: int, guesses: int, right: int, delta: float, level: float = 1 - CONFIDENCE) -> float:
    """0 where nothing is refuted."""
    low, high = 0.0, 1.0
    if p_value(canaries, guesses, right, 0.0, delta) >= level:
        return 0.0
    while p_value(canaries, guesses, right, high, delta) < level:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(canaries, guesses, right, middle, delta) < level else (low, middle)
    return low


def lower_bound(scores: np.ndarray, included: np.ndarray, delta: float) -> LowerBound:
    """Guesses the highest scores in and as many of the lowest out, for all canaries, half of them, a quarter and so on.

    The best of these counts; each is held to its share of the p value (Bonferroni), so that choosing costs nothing.
    """
    total = len(scores)
    numbers = [total]
    while numbers[-1] // 2 >= FEWEST_GUESSES:
        numbers.append(numbers[-1] // 2)
    level = (1 - CONFIDENCE) / len(numbers)
    order = np.argsort(scores, kind="stable")
    found = []
    for guesses in numbers:
        out, inside = order[: guesses // 2], order[total - (guesses - guesses // 2) :]
        right = int((~included[out]).sum() + included[inside].sum())
        found.append((epsilon_at_least(total, guesses, right, delta, level), guesses, right))
    epsilon, guesses, right = max(found)
    return LowerBound(epsilon, epsilon_at_least(total, total, total, delta, level), guesses, right)
