"""The counts of a run: exact, mergeable in any order, and made of numbers and fixed names only.

They travel as data rather than as Beam metrics, because a retried bundle counts twice in a metric and once here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class StageCount:
    received: int = 0
    passed: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: StageCount) -> None:
        self.received += other.received
        self.passed += other.passed
        self.seconds += other.seconds
        self.reasons.update(other.reasons)


@dataclass(slots=True)
class Tally:
    """Counts per stage, models loaded per worker process, seconds of audio read, and labelled slots."""

    stages: dict[str, StageCount] = field(default_factory=dict)
    loads: Counter[str] = field(default_factory=Counter)
    audio_s: float = 0.0
    slots: dict[str, Counter[str]] = field(default_factory=dict)  # by type, of the slots that the corpus labels

    @classmethod
    def of(cls, stage: str, *, received: int, passed: int, reasons: Iterable[str] = (), seconds: float = 0.0) -> Tally:
        return cls({stage: StageCount(received, passed, seconds, Counter(reasons))})

    def merge(self, other: Tally) -> Tally:
        for name, count in other.stages.items():
            self.stages.setdefault(name, StageCount()).add(count)
        self.loads.update(other.loads)
        self.audio_s += other.audio_s
        for type_, counts in other.slots.items():
            self.slots.setdefault(type_, Counter()).update(counts)
        return self

    def to_json(self) -> dict[str, Any]:
        return {
            "stages": {
                name: {
                    "received": count.received,
                    "passed": count.passed,
                    "seconds": round(count.seconds, 6),
                    "reasons": {reason: number for reason, number in sorted(count.reasons.items()) if number},
                }
                for name, count in sorted(self.stages.items())
            },
            "loads": dict(sorted(self.loads.items())),
            "audio_s": round(self.audio_s, 3),
            "slots": {type_: dict(counts) for type_, counts in sorted(self.slots.items())},
        }
