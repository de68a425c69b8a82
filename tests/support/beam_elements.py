"""The elements of a PCollection, back in the test."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions


def elements_of(build: Callable[[beam.Pipeline], Any]) -> list[Any]:
    """Runs what `build` makes. The worker gets a copy of every function, so elements come back by a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "elements"
        with beam.Pipeline(options=PipelineOptions(["--runner=FnApiRunner"])) as pipeline:
            build(pipeline) | "Keep" >> beam.Map(_keep, str(path))
        found = []
        if path.exists():
            with open(path, "rb") as file:
                while file.peek(1):
                    found.append(pickle.load(file))
        return found


def _keep(element: Any, path: str) -> None:
    with open(path, "ab") as file:
        pickle.dump(element, file)
