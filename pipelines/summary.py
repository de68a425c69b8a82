"""What a run did, as plain numbers and fixed words: what the report and the console are made from.

Nothing here can hold the content of a record: counts, names of stages and reasons, the ledger and the resolved job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SinkSummary:
    """`share` is the weight of the sink among the dialogues, from 0 to 1. `audio_s` is None for a sink of text."""

    name: str
    share: float
    rows: int
    shards: int
    bytes: int
    audio_s: float | None = None


@dataclass(frozen=True, slots=True)
class FailureSummary:
    stage: str
    reason: str
    allowed: str
    count: int


@dataclass(frozen=True, slots=True)
class StageSummary:
    """`seconds` is the time that all workers together spent in the stage."""

    name: str
    received: int
    passed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that another part of the project adds to the report: a table, and what to make of it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`ledger` is the content of ledger.json, `settings` the resolved job, which holds no secret."""

    run_id: str
    created: str
    duration_s: float
    records_read: int
    dialogues: int
    dialogues_exact: bool
    audio_s: float
    sinks: tuple[SinkSummary, ...]
    failures: tuple[FailureSummary, ...]
    stages: tuple[StageSummary, ...]
    ledger: Mapping[str, Any]
    settings: Mapping[str, Any]
    sections: tuple[Section, ...] = field(default=())

    @property
    def rows(self) -> int:
        return sum(sink.rows for sink in self.sinks)

    @property
    def refused(self) -> int:
        return sum(failure.count for failure in self.failures)
