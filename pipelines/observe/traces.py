"""A run as a trace of OpenTelemetry, sent by OTLP over HTTP: one span for the run, one for each of its parts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from sottovoce.pipelines.observe.observing import Observer, RunFacts
from sottovoce.pipelines.observe.spans_in_memory import SpansInMemory

TIMEOUT_S = 5.0


class NotTaken(Exception):
    """The receiver did not take the spans."""


class Traces(Observer):
    """Sends the trace when the run has ended, whichever way it did."""

    def __init__(self, target: str, facts: RunFacts):
        super().__init__(target, facts)
        # A resource of our own: what the SDK would find out (host, process, command line) nobody typed.
        self._provider = TracerProvider(resource=Resource({"service.name": "sottovoce"}), shutdown_on_exit=False)
        self._spans = SpansInMemory()
        self._provider.add_span_processor(self._spans)
        self._tracer = self._provider.get_tracer("sottovoce")
        self._whole: Any = None

    def began(self) -> None:
        known = {"sottovoce.run_id": self.facts.run_id, "sottovoce.runner": self.facts.runner}
        self._whole = self._tracer.start_span("sanitize", attributes=known)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        span = self._tracer.start_span(name, context=trace.set_span_in_context(self._whole))
        try:
            yield
        except BaseException as error:
            span.set_status(trace.StatusCode.ERROR, type(error).__name__)  # its words may say more
            raise
        finally:
            span.end()

    def ended(self, record: dict[str, Any] | None, error: BaseException | None, seconds: float) -> None:
        if record is None:
            self._whole.set_status(trace.StatusCode.ERROR, type(error).__name__)
        else:
            counts = record["counts"]
            told = {name: counts[name] for name in ("read", "failed", "audio_s") if name in counts}
            told |= {f"rows.{sink}": rows for sink, rows in counts["rows"].items()}
            told |= {f"stage_seconds.{stage}": found["seconds"] for stage, found in counts.get("stages", {}).items()}
            self._whole.set_attributes({f"sottovoce.{name}": value for name, value in told.items()})
        self._whole.end()
        exporter = OTLPSpanExporter(endpoint=self.target, timeout=TIMEOUT_S)
        if exporter.export(self._spans.taken) is not SpanExportResult.SUCCESS:
            raise NotTaken
