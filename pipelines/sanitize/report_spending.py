"""One budget, for the first screen of the report: what each mechanism costs a person at most, as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UNITS = ("speaker", "dialogue", "utterance", "unit")  # the widest first: what a person is told is the widest there is


@dataclass(frozen=True, slots=True)
class Spending:
    """`epsilon` of one mechanism, for `unit`; `share` of the budget, or of the dearest mechanism where there is none."""

    mechanism: str
    unit: str
    epsilon: float
    share: float


def spending(ledger: Mapping[str, Any], speaker_epsilon: float | None) -> tuple[Spending, ...]:
    """A bar for each mechanism that states a figure, an infinite one over its whole length."""
    stated = [(entry["mechanism"], _widest(entry["sound"])) for entry in ledger["mechanisms"] if entry["sound"]]
    finite = [epsilon for _, (_, epsilon) in stated if math.isfinite(epsilon)]
    whole = speaker_epsilon or max(finite, default=0.0) or 1.0
    return tuple(
        Spending(name, unit, epsilon, min(1.0, epsilon / whole) if math.isfinite(epsilon) else 1.0)
        for name, (unit, epsilon) in stated
    )


def _widest(sound: Mapping[str, float | str]) -> tuple[str, float]:
    unit = next((name for name in UNITS if name in sound), next(iter(sound)))
    return unit, float(sound[unit])
