"""The counts of a run: exact, mergeable in any order, and made of numbers and fixed names only.

(With one exception: labels of the corpus, in `Given`, which stay in private work folders.) They travel as data rather than as
Beam metrics, because a retried bundle counts twice in a metric and once here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class StageCount:
    """What one stage has taken, passed and refused, and the time it took."""

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
class Given:
    """What a sink was given, before anything of it was changed: sensitive spans by type, labels, and words by how many an
    utterance has. For the report's before and after; not kept in the commit, since nobody could be taken out of it again."""

    spans: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    words: Counter[int] = field(default_factory=Counter)

    def add(self, other: Given) -> None:
        self.spans.update(other.spans)
        self.labels.update(other.labels)
        self.words.update(other.words)

    def to_json(self) -> dict[str, dict[str, int]]:
        """{field: {key: count}} with sorted keys; JSON has strings alone as keys, so word numbers are written as such."""
        return {
            name: {str(key): getattr(self, name)[key] for key in sorted(getattr(self, name))} for name in self.__slots__
        }


@dataclass(slots=True)
class Tally:
    """Counts per stage, models loaded per worker process, seconds of audio read, labelled slots, and what sinks were given."""

    stages: dict[str, StageCount] = field(default_factory=dict)
    loads: Counter[str] = field(default_factory=Counter)
    audio_s: float = 0.0
    slots: dict[str, Counter[str]] = field(default_factory=dict)  # by type, of the slots that the corpus labels
    given: dict[str, Given] = field(default_factory=dict)  # by sink

    @classmethod
    def of(cls, stage: str, *, received: int, passed: int, reasons: Iterable[str] = (), seconds: float = 0.0) -> Tally:
        return cls({stage: StageCount(received, passed, seconds, Counter(reasons))})

    def merge(self, other: Tally) -> Tally:
        """Adds another tally to this one, in place, and returns this one."""
        for name, count in other.stages.items():
            self.stages.setdefault(name, StageCount()).add(count)
        self.loads.update(other.loads)
        self.audio_s += other.audio_s
        for type_, counts in other.slots.items():
            self.slots.setdefault(type_, Counter()).update(counts)
        for sink, given in other.given.items():
            self.given.setdefault(sink, Given()).add(given)
        return self

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON values: names in sorted order, seconds rounded, reasons that never occurred left out."""
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
            "given": {sink: given.to_json() for sink, given in sorted(self.given.items())},
        }
