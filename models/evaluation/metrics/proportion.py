"""A share with its interval (Wilson 1927): sensible also for 0 and for all of few."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sottovoce.models.text.detect.coverage import wilson


@dataclass(frozen=True)
class Share:
    """A count of a total; `value` is the share, and the interval follows from both."""

    count: int
    total: int

    @property
    def value(self) -> float:
        """From 0 to 1; NaN of a total of 0."""
        return self.count / self.total if self.total else math.nan

    def interval(self) -> tuple[float, float]:
        """Of 95 %; (0, 1) where nothing was counted."""
        return wilson(self.count, self.total)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.count} of {self.total} = {100 * self.value:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    def __add__(self, other: Share) -> Share:
        return Share(self.count + other.count, self.total + other.total)
