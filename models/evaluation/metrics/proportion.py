"""A share with its interval (Wilson 1927): sensible also for 0 and for all of few."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    count: int
    total: int

    @property
    def value(self) -> float:
        return self.count / self.total if self.total else math.nan

    def interval(self) -> tuple[float, float]:
        """Of 95 %; (0, 1) where nothing was counted."""
        if not self.total:
            return 0.0, 1.0
        from scipy.stats import binomtest

        wilson = binomtest(self.count, self.total).proportion_ci(method="wilson")
        return float(wilson.low), float(wilson.high)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.count} of {self.total} = {100 * self.value:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    def __add__(self, other: Share) -> Share:
        return Share(self.count + other.count, self.total + other.total)
