"""The counts of a run: exact, mergeable in any order, and made of numbers and fixed names only.

They travel as data rather than as Beam metrics, because a retried bundle counts twice in a metric and once here.
Distinct dialogues are counted by the k smallest keyed hashes (Bar-Yossef et al. 2002): exact up to k, about 3 % off beyond.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SMALLEST_HASHES = 1024
_HASH_SPAN = float(1 << 64)


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
    """Counts per stage, models loaded per worker process, seconds of audio read, and the dialogue sketch."""

    stages: dict[str, StageCount] = field(default_factory=dict)
    loads: Counter[str] = field(default_factory=Counter)
    audio_s: float = 0.0
    dialogue_hashes: tuple[int, ...] = ()

    @classmethod
    def of(cls, stage: str, *, received: int, passed: int, reasons: Iterable[str] = (), seconds: float = 0.0) -> Tally:
        return cls({stage: StageCount(received, passed, seconds, Counter(reasons))})

    def merge(self, other: Tally) -> Tally:
        for name, count in other.stages.items():
            self.stages.setdefault(name, StageCount()).add(count)
        self.loads.update(other.loads)
        self.audio_s += other.audio_s
        if other.dialogue_hashes:  # few tallies have any
            hashes = set(self.dialogue_hashes) | set(other.dialogue_hashes)
            self.dialogue_hashes = tuple(sorted(hashes)[:SMALLEST_HASHES])
        return self

    @property
    def dialogues(self) -> int:
        if len(self.dialogue_hashes) < SMALLEST_HASHES:
            return len(self.dialogue_hashes)
        return round((SMALLEST_HASHES - 1) / (self.dialogue_hashes[-1] / _HASH_SPAN))

    def to_json(self) -> dict[str, Any]:
        return {
            "stages": {
                name: {
                    "received": count.received,
                    "passed": count.passed,
                    "seconds": round(count.seconds, 6),
                    "reasons": dict(sorted(count.reasons.items())),
                }
                for name, count in sorted(self.stages.items())
            },
            "loads": dict(sorted(self.loads.items())),
            "audio_s": round(self.audio_s, 3),
            "dialogues": self.dialogues,
            "dialogues_exact": len(self.dialogue_hashes) < SMALLEST_HASHES,
        }
