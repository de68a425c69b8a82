"""The counts of a run after records were taken out of it: those of a run that never read them.

Each utterance went through the stages of its sink in a known order, and either came out as records or was refused by one
of them; so where it ended says which counts it is in. Times are not kept: seconds of a stage tell how much it had to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

READ, WRITE = "read", "write"
Path = Callable[[str], Sequence[str]]  # the stages of a sink, in order, from read to write


@dataclass
class Removed:
    """What was taken out of one run. Mergeable: one for each file."""

    rows: Counter[str] = field(default_factory=Counter)  # by sink: records that are gone
    parts: Counter[str] = field(default_factory=Counter)  # by sink: what was written of them; a dialogue has several
    released: Counter[str] = field(default_factory=Counter)  # by sink: utterances that were released
    refused: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # by sink, stage and reason: utterances
    withheld: Counter[tuple[str, str]] = field(default_factory=Counter)  # by stage and reason: neither of the two
    turns: Counter[str] = field(default_factory=Counter)  # by keyed dialogue: utterances that the run took
    slots: dict[str, Counter[str]] = field(default_factory=dict)  # by type: what was counted of labelled slots
    audio_s: float = 0.0

    def merge(self, other: Removed) -> None:
        """Adds what another file has lost, in place. `slots` stay as they are: they are counted for the run, not by file."""
        for name in ("rows", "parts", "released", "refused", "withheld", "turns"):
            getattr(self, name).update(getattr(other, name))
        self.audio_s += other.audio_s

    @property
    def failed(self) -> int:
        """Utterances that were refused, whatever the stage and reason."""
        return sum(self.refused.values())

    @property
    def read(self) -> int:
        return sum(self.released.values()) + self.failed + sum(self.withheld.values())

    @property
    def utterances(self) -> int:
        """That the run took and released or refused. Of a retired run only what it took is known."""
        return sum(self.released.values()) + self.failed or sum(self.turns.values())


def counts_without(counts: Mapping[str, Any], removed: Removed, dialogues: int, path: Path) -> dict[str, Any]:
    """`dialogues`: how many of them have lost their last turn."""
    by_reason = Counter(counts["by_reason"])
    by_reason.subtract(_by_reason(removed))
    return {
        **counts,
        "read": counts["read"] - removed.read,
        "failed": counts["failed"] - removed.failed,
        "by_reason": {reason: count for reason, count in by_reason.items() if count},
        "dialogues": counts["dialogues"] - dialogues,
        "audio_s": round(counts["audio_s"] - removed.audio_s, 3) + 0.0,  # never "-0.0"
        "rows": {sink: rows - removed.rows[sink] for sink, rows in counts["rows"].items()},
        "stages": _stages_without(counts["stages"], removed, path),
        "labelled_slots": _slots_without(counts["labelled_slots"], removed.slots),
    }


def _slots_without(slots: Mapping[str, Any], removed: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    left = {
        type_: {name: count - removed.get(type_, Counter())[name] for name, count in counts.items()}
        for type_, counts in slots.items()
    }
    return {type_: counts for type_, counts in left.items() if any(counts.values())}


def _by_reason(removed: Removed) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, _, reason), count in removed.refused.items():
        found[reason] += count
    return found


def _stages_without(stages: Mapping[str, Any], removed: Removed, path: Path) -> dict[str, Any]:
    left: dict[str, dict[str, Any]] = {
        name: {**stage, "seconds": None, "reasons": Counter(stage["reasons"])} for name, stage in stages.items()
    }
    for sink, utterances in removed.released.items():
        _take(left, (name for name in path(sink) if name != WRITE), utterances)
        _take(left, (WRITE,), removed.parts[sink])
    for (sink, stage, reason), utterances in removed.refused.items():
        _take(left, _until(path(sink), stage), utterances)
        _refuse(left, stage, reason, utterances)
    for (stage, reason), utterances in removed.withheld.items():
        _take(left, _until(path(""), stage), utterances)
        _refuse(left, stage, reason, utterances)
    for count in left.values():
        count["reasons"] = {reason: number for reason, number in sorted(count["reasons"].items()) if number}
    return {name: count for name, count in left.items() if count["received"] or count["passed"]}


def _until(stages: Sequence[str], last: str) -> Iterable[str]:
    return stages[: stages.index(last)] if last in stages else ()


def _take(left: dict[str, Any], stages: Iterable[str], count: int) -> None:
    for name in stages:
        if name in left:
            left[name]["received"] -= count
            left[name]["passed"] -= count


def _refuse(left: dict[str, Any], stage: str, reason: str, count: int) -> None:
    if stage in left:
        left[stage]["received"] -= count
        left[stage]["reasons"][reason] -= count
