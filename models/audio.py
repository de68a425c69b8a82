"""Speech in memory, and how a reference becomes speech. The only place that decodes or encodes audio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, repr=False)
class Speech:
    """Mono samples in [-1, 1], float32, finite. Sensitive until masked and cut."""

    samples: np.ndarray
    rate_hz: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz

    def __repr__(self) -> str:
        return "<Speech: sensitive>"
