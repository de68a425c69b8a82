"""A figure with its interval: the one shape in which measurements are reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


def interval(value: float, drawn: Sequence[float] | np.ndarray) -> Estimate:
    """The bootstrap's percentiles, widened where the figure itself lies outside them."""
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (value, value)
    return Estimate(value, min(float(low), value), max(float(high), value))


def mean_of(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean, with an interval drawn over the values. The seed only makes it repeatable."""
    every = np.asarray(values, float)
    drawn = np.random.default_rng(0).choice(every, (1000, len(every))).mean(axis=1)
    return interval(float(every.mean()), drawn)


def student(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean of a few independent values, with Student's t: sixteen say less than 1.96 of their spread would have it."""
    from scipy.stats import t

    every = np.asarray(values, float)
    mean, reach = float(every.mean()), float(t.ppf(0.975, len(every) - 1) * every.std(ddof=1) / np.sqrt(len(every)))
    return Estimate(mean, mean - reach, mean + reach)


def share(count: int, total: int) -> Estimate:
    """A share of independent trials with the interval of Clopper and Pearson (1934): never too narrow."""
    from scipy.stats import binomtest

    exact = binomtest(count, total).proportion_ci(method="exact")
    return Estimate(count / total, float(exact.low), float(exact.high))
