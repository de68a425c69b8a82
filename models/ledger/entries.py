"""What one mechanism says of itself: the entry it writes into the ledger of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What one mechanism of a run gives, and what it does not. Written to `ledger.json` and the report.

    `paper` and `sound` are figures by unit, such as {"unit": 0.18, "utterance": inf}; None where the mechanism has no
    differential-privacy guarantee at all, and `says` then tells in plain words what it does instead. A mechanism with
    an infinite figure says why in `infinite_because`.
    """

    stage: str
    mechanism: str
    says: str
    not_protected: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    adjacency: str | None = None
    assumptions: tuple[str, ...] = ()
    paper: dict[str, float] | None = None
    sound: dict[str, float] | None = None
    infinite_because: str | None = None
