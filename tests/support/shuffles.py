"""What crosses between the stages of a run on the local runner, as the bytes that the workers send."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apache_beam.coders.coder_impl import create_InputStream
from apache_beam.runners.portability.fn_api_runner import execution

Crossings = dict[str, list[bytes]]


@contextmanager
def recorded() -> Iterator[tuple[Crossings, Crossings]]:
    """(elements by grouping step, elements by any other border between stages). Beam groups what it fused and combined,
    so this is what a shuffle carries, not what the graph would suggest."""
    grouped: Crossings = defaultdict(list)
    passed: Crossings = defaultdict(list)
    steps: dict[int, str] = {}
    buffers: list[object] = []  # kept, so that no id is used twice
    get_buffer, group, pass_on = (
        execution.BundleContextManager.get_buffer,
        execution.GroupingBuffer.append,
        execution.ListBuffer.append,
    )

    def get_named(self, buffer_id, transform_id):  # type: ignore[no-untyped-def]
        buffer = get_buffer(self, buffer_id, transform_id)
        kind, name = execution.split_buffer_id(buffer_id)
        components = self.execution_context.pipeline_components
        steps[id(buffer)] = components.transforms[name].unique_name if kind == "group" else name
        buffers.append(buffer)
        return buffer

    def append_grouped(self, data):  # type: ignore[no-untyped-def]
        grouped[steps[id(self)]] += _elements(data, self._pre_grouped_coder.get_impl())
        group(self, data)

    def append_passed(self, data):  # type: ignore[no-untyped-def]
        passed[steps.get(id(self), "input")] += _elements(data, self._coder_impl)
        pass_on(self, data)

    execution.BundleContextManager.get_buffer = get_named
    execution.GroupingBuffer.append = append_grouped
    execution.ListBuffer.append = append_passed
    try:
        yield grouped, passed
    finally:
        execution.BundleContextManager.get_buffer = get_buffer
        execution.GroupingBuffer.append = group
        execution.ListBuffer.append = pass_on


def _elements(data: bytes, coder: Any) -> Iterator[bytes]:
    """The bytes of each element of what was sent at once."""
    stream = create_InputStream(data)
    while left := stream.size():
        coder.decode_from_stream(stream, True)
        begin = len(data) - left
        yield data[begin : begin + left - stream.size()]
