"""Beam's options for a run: the runner's file, then what stands after `--`, which wins."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import yaml
from apache_beam.options.pipeline_options import PipelineOptions

RUNNERS = ("direct", "flink", "dataflow")


def beam_options(runner: str, workers: int, arguments: Sequence[str]) -> PipelineOptions:
    values: dict[str, Any] = yaml.safe_load(
        resources.files("sottovoce.runner_configs").joinpath(f"{runner}.yaml").read_text()
    )
    if runner == "direct" and workers > 1:
        values |= {"direct_num_workers": workers, "direct_running_mode": "multi_processing"}
    return PipelineOptions([*_as_flags(values), *arguments])


def _as_flags(values: dict[str, Any]) -> list[str]:
    flags = []
    for name, value in values.items():
        if isinstance(value, bool):
            flags += [f"--{name}"] if value else []
        elif isinstance(value, list):
            flags += [f"--{name}={item}" for item in value]
        elif value is not None:
            flags.append(f"--{name}={value}")
    return flags
