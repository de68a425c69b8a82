"""Linkability D_sys: how far scores betray that two things belong together.

Gomez-Barrero et al., "General framework to evaluate unlinkability in biometric template protection systems", IEEE TIFS
2018: LR(s) = p(s | mated) / p(s | non-mated), D(s) = max(0, (w LR - 1) / (w LR + 1)) with w the prior odds, and
D_sys = E[D(s) | mated]: 0 for scores that tell nothing, 1 for scores that tell all. Densities are histograms. Their mass is
summed bin by bin, so that separable scores give exactly 1, and there are n^(1/3) bins: more bins find links in pure chance.
What chance alone would give is still not 0, so the mean over shuffled labels is reported beside the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.metrics.estimate import Estimate, interval
from sottovoce.models.settings import require


@dataclass(frozen=True)
class Linkability:
    """`value` with its bootstrap interval, and the values that shuffled labels give: what is not above them is chance."""

    value: float
    low: float
    high: float
    chance_alone: Estimate

    @property
    def chance(self) -> float:
        """The mean D_sys over shuffled labels, without its interval."""
        return self.chance_alone.value


def linkability(
    mated: Sequence[float] | np.ndarray,
    non_mated: Sequence[float] | np.ndarray,
    prior_odds: float = 1.0,
    bins: int | None = None,
) -> float:
    """D_sys of two samples of scores. `prior_odds` is p(mated) / p(non-mated) before any score is seen."""
    linked, other = np.asarray(mated, float), np.asarray(non_mated, float)
    require(
        (len(linked) > 0 and len(other) > 0, "scores: both kinds are needed"),
        (prior_odds > 0, "prior_odds: must be above 0"),
        (bool(np.isfinite(linked).all() and np.isfinite(other).all()), "scores: must be finite"),
    )
    count = bins or max(2, round(min(len(linked), len(other)) ** (1 / 3)))
    low, high = min(linked.min(), other.min()), max(linked.max(), other.max())
    if low == high:
        return 0.0 if prior_odds <= 1 else (prior_odds - 1) / (prior_odds + 1)
    edges = np.linspace(low, high, count + 1)
    p_mated = np.histogram(linked, edges)[0] / len(linked)
    p_other = np.histogram(other, edges)[0] / len(other)
    weighted = prior_odds * p_mated
    total = weighted + p_other
    local = np.divide(weighted - p_other, total, out=np.zeros(count), where=total > 0)
    return float(np.sum(p_mated * np.maximum(local, 0.0)))


def estimates(mated: Sequence[float] | np.ndarray, non_mated: Sequence[float] | np.ndarray) -> dict[str, Estimate]:
    """As a metric of the table: what is not above chance is chance."""
    found = measured(mated, non_mated)
    return {"d_sys": Estimate(found.value, found.low, found.high), "d_sys_by_chance": found.chance_alone}


def measured(
    mated: Sequence[float] | np.ndarray,
    non_mated: Sequence[float] | np.ndarray,
    prior_odds: float = 1.0,
    repeats: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> Linkability:
    """D_sys with a bootstrap interval over scores and the level of chance. The seed only makes the report repeatable."""
    linked, other = np.asarray(mated, float), np.asarray(non_mated, float)
    rng = np.random.default_rng(seed)
    value = linkability(linked, other, prior_odds)
    pooled = np.concatenate([linked, other])
    drawn, shuffled = [], []
    for _ in range(repeats):
        drawn.append(linkability(rng.choice(linked, len(linked)), rng.choice(other, len(other)), prior_odds))
        rng.shuffle(pooled)
        shuffled.append(linkability(pooled[: len(linked)], pooled[len(linked) :], prior_odds))
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Linkability(
        value, min(float(low), value), max(float(high), value), interval(float(np.mean(shuffled)), shuffled)
    )
