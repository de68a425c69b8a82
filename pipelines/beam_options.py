"""Beam's options for a run: the runner's file, then what stands after `--`, which wins."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from apache_beam.options.pipeline_options import FlinkRunnerOptions, PipelineOptions

RUNNERS = ("direct", "flink", "dataflow")


def beam_options(runner: str, workers: int, arguments: Sequence[str]) -> PipelineOptions:
    values: dict[str, Any] = yaml.safe_load(
        resources.files("sottovoce.runner_configs").joinpath(f"{runner}.yaml").read_text()
    )
    if runner == "direct" and workers > 1:
        values |= {"direct_num_workers": workers, "direct_running_mode": "multi_processing"}
    options = PipelineOptions([*_as_flags(values), *arguments])
    if runner == "flink":
        _find_job_server(options.view_as(FlinkRunnerOptions))
    return options


def _find_job_server(options: FlinkRunnerOptions) -> None:
    """The job server that was built for this version of Flink in the checkout; None lets Beam fetch its own."""
    if options.flink_job_server_jar and "{flink_version}" in options.flink_job_server_jar:
        name = options.flink_job_server_jar.format(flink_version=options.flink_version)
        built = Path(str(resources.files("sottovoce.runner_configs"))).parent / name
        options.flink_job_server_jar = str(built) if built.exists() else None


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
