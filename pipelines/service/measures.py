"""What is counted of requests: route, status, seconds, queues. Nothing that a caller chose becomes a label."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where the processes of one service add up; set before this is imported

REQUESTS = Counter("sottovoce_requests", "Requests answered", ["route", "status"])
SECONDS = Histogram(
    "sottovoce_request_seconds",
    "From the request to the end of its answer",
    ["route"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60),
)
BATCH = Histogram("sottovoce_batch_size", "Requests taken at once", ["queue"], buckets=(1, 2, 4, 8, 16, 32))
WAITING = Gauge("sottovoce_waiting", "Requests in the queue", ["queue"], multiprocess_mode="livesum")
SPEECH = Counter("sottovoce_speech_seconds", "Seconds of speech that were answered")


def batch_taken(queue: str, size: int) -> None:
    """A queue has taken `size` requests at once; named by the queue alone."""
    BATCH.labels(queue).observe(size)


def exposition() -> bytes:
    """All that was counted, in the text format of Prometheus; of several processes the counts together."""
    if SHARED_FOLDER not in os.environ:
        return generate_latest()
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    return generate_latest(registry)
