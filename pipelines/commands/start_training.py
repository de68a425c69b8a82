"""`sottovoce start-training`: a committed run becomes a training job, once."""

from __future__ import annotations

import argparse
from collections.abc import Container
from typing import TYPE_CHECKING

from sottovoce.models.errors import SettingsError

if TYPE_CHECKING:
    from sottovoce.pipelines.training.order import TrainingOrder
    from sottovoce.pipelines.training.start_training import Started

EXAMPLES = """\
  sottovoce start-training --run out/run-0123456789ab --config train.yaml
  sottovoce start-training --run out/run-0123456789ab --config train.yaml --launch slurm
  sottovoce start-training --run gs://bucket/out/run-0123456789ab --config train.yaml --launch my_vertex.yaml
  sottovoce start-training --run out/run-0123456789ab --config train.yaml --retry
"""
LOCAL = "local"


def _add_launch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--launch",
        metavar="NAME",
        help="where: local, slurm, kubernetes, vertex, or a YAML file with `launch` and `gate` (default: local)",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="OUT/ID", help="the committed run")
    parser.add_argument("--config", required=True, metavar="TRAIN.yaml", help="settings of `sottovoce train`")
    _add_launch(parser)
    parser.add_argument(
        "--secret-file", metavar="F", help="the secret of the run: an audit that was not written with it is refused"
    )
    parser.add_argument(
        "--retry",
        action="store_true",
        help="start again: from the checkpoint after a job that failed, afresh after `sottovoce forget`",
    )


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.sanitize.one_secret import secret_at_hand
    from sottovoce.pipelines.training.order import read_order
    from sottovoce.pipelines.training.start_training import start_training

    order, secret = read_order(args.config, args.launch or LOCAL), secret_at_hand(args.run, args.secret_file)
    print_started(start_training(args.run, order, args.retry, secret), args.run)
    return 0


def add_then_train(parser: argparse.ArgumentParser) -> None:
    """For commands that commit a run: start its training as well."""
    parser.add_argument(
        "--then-train",
        metavar="TRAIN.yaml",
        help="then start training from the committed run, once, if its gate passes",
    )
    _add_launch(parser)


def read_then_train(args: argparse.Namespace, sinks: Container[str]) -> TrainingOrder | None:
    """The order, checked before the run begins."""
    from sottovoce.pipelines.training.order import read_order

    if args.then_train is None:
        if args.launch is not None:
            raise SettingsError(["--launch: says where to train; it needs --then-train"])
        return None
    order = read_order(args.then_train, args.launch or LOCAL)
    if order.sink not in sinks:
        problem = f"--then-train: the job gives the sink {order.sink} nothing to train on; set sinks.{order.sink}"
        raise SettingsError([problem])
    return order


def print_started(started: Started, run: str) -> None:
    """Tell what the gate checked, the job, whether its model is out of date after an erasure, and the next command."""
    marker = started.marker
    assert marker.handle is not None
    for line in marker.gate:
        print(f"gate  {line}")
    word = "was started before" if started.already else "started"
    print(f"training {word}: {marker.launch['use']} job {marker.handle.job_id}")
    if marker.stale is not None:
        print(f"records were erased on {marker.stale[:10]}: train the model anew with --retry")
    print(f"follow it with: sottovoce jobs status {run} --watch")
