"""Beam's options for a run: the runner's file, then what stands after `--`, which wins."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from apache_beam.options.pipeline_options import FlinkRunnerOptions, PipelineOptions, SetupOptions

RUNNERS = ("direct", "flink", "dataflow")


class RememberedOptions(PipelineOptions):
    """Beam asks for the same views hundreds of times while a graph is built, and parses all flags anew for each. Views share
    their values, so that the first one serves."""

    def view_as(self, cls: Any) -> Any:
        """The view that was made when this class was first asked for."""
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]


class GpuOptions(PipelineOptions):
    """Resource hints for the stages whose model runs on a GPU (`device: cuda` in the job), and for no other."""

    @classmethod
    def _add_argparse_args(cls, parser: Any) -> None:
        parser.add_argument("--gpu_accelerator", help="such as type:nvidia-tesla-t4;count:1;install-nvidia-driver")
        parser.add_argument("--gpu_min_ram", help="memory of the machine that holds the GPU, such as 16GB")


def gpu_hints(options: PipelineOptions) -> tuple[tuple[str, str], ...]:
    """Beam's resource hints (name, value) from the GPU options; only those that were given."""
    gpu = options.view_as(GpuOptions)
    hints = {"accelerator": gpu.gpu_accelerator, "min_ram": gpu.gpu_min_ram}
    return tuple((name, value) for name, value in hints.items() if value)


def beam_options(runner: str, workers: int, arguments: Sequence[str]) -> PipelineOptions:
    """`arguments` are Beam's own flags, as typed. More than one worker means processes, on the direct runner only; on the
    others `workers` changes nothing."""
    values: dict[str, Any] = yaml.safe_load(
        resources.files("sottovoce.runner_configs").joinpath(f"{runner}.yaml").read_text()
    )
    if runner == "direct" and workers > 1:
        values |= {"direct_num_workers": workers, "direct_running_mode": "multi_processing"}
    options = RememberedOptions([*_as_flags(values), *arguments])
    flink, setup = options.view_as(FlinkRunnerOptions), options.view_as(SetupOptions)
    flink.flink_job_server_jar = _in_checkout(flink.flink_job_server_jar, flink_version=flink.flink_version)
    setup.setup_file = _in_checkout(setup.setup_file)
    return options


def _in_checkout(path: str | None, **values: str) -> str | None:
    """'{checkout}/name' of a runner's file -> the path, or None where the package was installed without a checkout."""
    if not path or not path.startswith("{checkout}"):
        return path or None
    checkout = Path(str(resources.files("sottovoce.runner_configs"))).parent
    found = Path(path.format(checkout=checkout, **values))
    return str(found) if found.exists() else None


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
