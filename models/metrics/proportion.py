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

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """95 % unless another z is given."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.value
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.count} of {self.total} = {100 * self.value:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    def __add__(self, other: Share) -> Share:
        return Share(self.count + other.count, self.total + other.total)
