"""`sottovoce start-training`: a committed run becomes a training job, once."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.pipelines.start_training import Started

EXAMPLES = """\
  sottovoce start-training --run out/run-0123456789ab --config train.yaml
  sottovoce start-training --run out/run-0123456789ab --config train.yaml --launch slurm
  sottovoce start-training --run gs://bucket/out/run-0123456789ab --config train.yaml --launch my_vertex.yaml
  sottovoce start-training --run out/run-0123456789ab --config train.yaml --retry
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="OUT/ID", help="the committed run")
    parser.add_argument("--config", required=True, metavar="TRAIN.yaml", help="settings of `sottovoce train`")
    parser.add_argument(
        "--launch",
        default="local",
        metavar="NAME",
        help="where: local, slurm, kubernetes, vertex, or a YAML file with `launch` and `gate` (default: local)",
    )
    parser.add_argument(
        "--retry", action="store_true", help="start again, from the checkpoint, after a job that failed"
    )


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.start_training import start_training

    print_started(start_training(args.run, args.config, args.launch, args.retry), args.run)
    return 0


def print_started(started: Started, run: str) -> None:
    marker = started.marker
    assert marker.handle is not None
    for line in marker.gate:
        print(f"gate  {line}")
    word = "was started before" if started.already else "started"
    print(f"training {word}: {marker.launch['use']} job {marker.handle.job_id}")
    print(f"follow it with: sottovoce jobs status {run} --watch")
