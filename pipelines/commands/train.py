"""`sottovoce train`: a model from a sink, with a privacy card."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  sottovoce train --data out/run-0123456789ab --config train.yaml
  sottovoce train --data sentences.jsonl.gz --config train.yaml --out trained
  sottovoce train --data sentences.jsonl.gz --config train.yaml --out trained --resume
  torchrun --nproc-per-node=2 -m sottovoce.pipelines.cli train --data sentences.jsonl.gz --config train.yaml --out trained
train.yaml:
  task: slu               # or lm (sink stt_lm), am (stt_am), dm
  model: clc              # of the task: clc, bert; lstm, transformer; conv; turns; or {use: clc, hidden: 128}
  mode: per_example       # or sound, paper, plain
  target_epsilon: 4
  epochs: 20"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, help="a committed run, or JSON lines as docs/training.md says")
    parser.add_argument("--config", required=True, metavar="TRAIN.yaml", help="settings; docs/training.md lists them")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="DIR/model is for others, DIR/private is not (OUT/trained/RUN, or training beside the data)",
    )
    parser.add_argument("--private-out", metavar="DIR", help="in place of DIR/private (for a run: its private state)")
    parser.add_argument(
        "--commit", metavar="SHA256", help="of the run: train on this commit only (start-training gives it)"
    )
    parser.add_argument(
        "--units",
        metavar="FILE",
        help="whose each row of the run is (start-training gives it; else: its private state)",
    )
    parser.add_argument(
        "--max-epsilon",
        type=float,
        metavar="E",
        help="what the people in the data were charged (start-training gives it)",
    )
    parser.add_argument("--max-delta", type=float, metavar="D", help="the delta that was charged with it")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint, if there is one")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.training.charged import Charged
    from sottovoce.pipelines.training.train_model import train
    from sottovoce.pipelines.training.training_places import places_for

    paths = (args.data, args.out, args.private_out, args.units)
    data, out, private, units = (path and mounted(path) for path in paths)
    places = places_for(data, out, private)
    train(
        data, mounted(args.config), places, args.resume, args.commit, units, Charged(args.max_epsilon, args.max_delta)
    )
    return 0


def mounted(path: str) -> str:
    """Training jobs see buckets as folders: gs://bucket/x is /gcs/bucket/x where that is mounted (Vertex AI does it)."""
    if not path.startswith("gs://"):
        return path
    from sottovoce.models.errors import RunError

    local = Path("/gcs") / path.removeprefix("gs://")
    if not Path("/gcs").exists():
        raise RunError(f"{path}: this machine has no bucket mounted at /gcs; copy the data here first")
    return str(local)
