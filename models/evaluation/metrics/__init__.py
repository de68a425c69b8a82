"""Figures that say what a protection gives: a metric turns scores of mated and of non-mated pairs into estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sottovoce.models.evaluation.metrics.estimate import Estimate

TABLE = {
    "verification": "sottovoce.models.evaluation.metrics.verification:estimates",
    "linkability": "sottovoce.models.evaluation.metrics.linkability:estimates",
}


class Metric(Protocol):
    """A row of the table is such a function; `sottovoce evaluate scores` prints what every row finds."""

    def __call__(
        self, mated: Sequence[float] | np.ndarray, non_mated: Sequence[float] | np.ndarray
    ) -> dict[str, Estimate]: ...
