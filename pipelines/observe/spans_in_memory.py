"""Spans until they are sent together: a run is not held up by whoever listens."""

from __future__ import annotations

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor


class SpansInMemory(SpanProcessor):
    """Collects spans in `taken` as they end; `Traces` sends them all when the run has ended."""

    def __init__(self) -> None:
        self.taken: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """OpenTelemetry calls this once for each span, when it is complete."""
        self.taken.append(span)
