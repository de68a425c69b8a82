"""Errors that leave a DoFn tell their type and place; side inputs, bundles and results pass the shell as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import GlobalWindows

from sottovoce.models.errors import RunError
from sottovoce.transforms.engine.stage import scrub_errors


class AddAtTheEnd(beam.DoFn):
    """Has a side input, holds results back until its bundle ends, and breaks where it is told to."""

    def __init__(self, breaks_in: str = ""):
        self._breaks_in = breaks_in

    def setup(self) -> None:
        self._break("setup")
        self._kept: list[int] = []

    def process(self, element: int, more: int, factor: int = 1) -> Iterator[Any]:
        yield beam.pvalue.TaggedOutput("seen", element)
        self._break("process")
        self._kept.append(element * factor + more)

    def finish_bundle(self) -> Iterator[Any]:
        self._break("finish_bundle")
        for value in self._kept:
            yield GlobalWindows.windowed_value(value)
        self._kept = []

    def _break(self, where: str) -> None:
        if where == self._breaks_in:
            raise ValueError("petronella")


def run(breaks_in: str = "") -> None:
    with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
        more = beam.pvalue.AsSingleton(pipeline | "Side" >> beam.Create([100]))
        parts = pipeline | beam.Create([1, 2]) | beam.ParDo(AddAtTheEnd(breaks_in), more, factor=3).with_outputs("seen")
        grouped = parts["seen"] | beam.Map(lambda number: ("all", number)) | beam.GroupByKey()
        assert_that(parts[None], equal_to([103, 106]))
        assert_that(grouped | beam.MapTuple(lambda _, seen: sorted(seen)), equal_to([[1, 2]]), label="Seen")
        scrub_errors(pipeline)


def test_what_passes_is_what_passed_before():
    run()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["setup", "process", "finish_bundle"])
def test_an_error_is_told_by_its_type_and_place(where, monkeypatch):
    with pytest.raises(RunError, match=r"ValueError in test_scrubbed_errors\.py, line \d+") as caught:
        run(where)
    assert "petronella" not in str(caught.value)
    monkeypatch.setenv("SOTTOVOCE_DEBUG", "1")
    with pytest.raises(ValueError, match="petronella"):
        run(where)
