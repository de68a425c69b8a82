"""The last run as a file of Prometheus metrics, for node_exporter's textfile collector or whoever reads such files."""

from __future__ import annotations

import time
from typing import Any

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from sottovoce.pipelines.observe.observing import Observer


class MetricsFile(Observer):
    """Writes the file at the end of each run, in one move, so that nobody reads half of it."""

    def ended(self, record: dict[str, Any] | None, error: BaseException | None, seconds: float) -> None:
        registry = CollectorRegistry()

        def gauge(name: str, told: str, *labels: str) -> Gauge:
            return Gauge(f"sottovoce_run_{name}", told, labels, registry=registry)

        gauge("success", "1: committed; 0: the last run failed").set(int(record is not None))
        gauge("finished_timestamp_seconds", "When the last run ended").set(time.time())
        gauge("duration_seconds", "How long it took").set(seconds)
        if record is not None:
            self._counts(gauge, record["counts"])
        write_to_textfile(self.target, registry)

    def _counts(self, gauge: Any, counts: dict[str, Any]) -> None:
        rows = gauge("rows", "Rows that were written, by sink", "sink")
        for sink, count in counts["rows"].items():
            rows.labels(sink).set(count)
        if "read" not in counts:  # a crowd release tells no more
            return
        gauge("records_read", "Records of the corpus").set(counts["read"])
        gauge("dialogues", "Dialogues that were taken").set(counts["dialogues"])
        gauge("audio_seconds", "Speech that was loaded").set(counts["audio_s"])
        refused = gauge("records_refused", "Records that were refused, by reason", "reason")
        for reason, count in counts["by_reason"].items():
            refused.labels(reason).set(count)
        received = gauge("stage_received", "What each stage was given", "stage")
        passed = gauge("stage_passed", "What each stage let pass", "stage")
        took = gauge("stage_seconds", "Seconds of all workers in each stage", "stage")
        for stage, count in counts["stages"].items():
            received.labels(stage).set(count["received"])
            passed.labels(stage).set(count["passed"])
            took.labels(stage).set(count["seconds"])
