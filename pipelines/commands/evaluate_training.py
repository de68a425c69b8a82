"""`sottovoce evaluate training`: what each way of training is worth, gives away and costs, for each task."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.models.errors import SettingsError

if TYPE_CHECKING:
    from sottovoce.pipelines.studies.training_study import TrainingStudy

EXAMPLES = """\
  sottovoce evaluate training --data atis=atis.jsonl.gz --data snips=snips.jsonl.gz --data nlu_eval=nlu_eval.jsonl.gz
  sottovoce evaluate training --data lm:sgd=sgd.jsonl.gz --data dm:sgd=sgd.jsonl.gz --data am:an4=an4.jsonl
  sottovoce evaluate training --data snips=snips.jsonl.gz --models clc --methods SGD "per example" --out tables
  sottovoce evaluate training --data atis=atis.jsonl.gz --full --out tables_full
Data are those of the task (slu where none is named) as `sottovoce train` reads them, with `split` (train, test) where somebody
has split them. --full takes the models of the paper, all the data and 20 epochs, with 8 shadow models a row, and says first
how long that takes. Every training is kept in --out when it is done: the same command goes on where it was stopped."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", action="append", required=True, metavar="[TASK:]NAME=FILE", help="a data set; may be repeated"
    )
    parser.add_argument("--out", default="training_tables", metavar="DIR", help="(training_tables)")
    parser.add_argument(
        "--models", nargs="+", metavar="M", help="some of the tasks' models: clc, bert, lstm, ... (all)"
    )
    parser.add_argument(
        "--methods", nargs="+", metavar="M", help="some of: SGD, 'eDP-SGD, no decay', ... 'per example' (all)"
    )
    parser.add_argument("--z0", type=float, help="noise multiplier (0.5, with --full 1)")
    parser.add_argument(
        "--lira", type=int, metavar="K", help="shadow models of the per-example attack (0, with --full 8)"
    )
    parser.add_argument("--full", action="store_true", help="the paper's sizes instead of the quick ones")
    parser.add_argument(
        "--mixed-precision", action="store_true", help="networks in bfloat16: half the time where the CPU knows it"
    )


def run(args: argparse.Namespace) -> int:
    import json

    from sottovoce.pipelines.studies.kept_steps import KeptSteps
    from sottovoce.pipelines.studies.training_chart import draw
    from sottovoce.pipelines.studies.training_study import METHODS
    from sottovoce.pipelines.studies.training_tables import result, rows_of_study, table

    methods = args.methods or list(METHODS)
    if unknown := [method for method in methods if method not in METHODS]:
        raise SettingsError([f"--methods: {unknown[0]!r} is not known; allowed: {', '.join(METHODS)}"])
    studies = list(_studies(args))
    out = Path(args.out)
    kept = KeptSteps(out / "trainings")
    planned = [row for study, name, path in studies for row in rows_of_study(study, name, path, methods)]
    kept.announce([step for row in planned for step in row.steps])
    rows = []
    for row in planned:
        rows.append(result(row, kept))
        print(table(rows).splitlines()[-1], flush=True)
        (out / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (out / "table.md").write_text(table(rows))
    draw(rows, out / "chart.svg")
    print(f"\n{table(rows)}\ntable: {out / 'table.md'}   chart: {out / 'chart.svg'}")
    return 0


def _studies(args: argparse.Namespace) -> Iterator[tuple[TrainingStudy, str, Path]]:
    """(study, name of the data, file) of each --data, with what the flags change."""
    from dataclasses import replace

    from sottovoce.pipelines.studies import training_study

    if args.lira is not None and (args.lira % 2 or args.lira < 0):
        raise SettingsError([f"--lira: {args.lira} is not 0 or an even number"])
    known = training_study.FULL if args.full else training_study.QUICK
    for given in args.data:
        named, _, path = given.partition("=")
        task, colon, name = named.partition(":")
        task, name = (task, name) if colon else ("slu", named)
        if not path or not name:
            raise SettingsError([f"--data: {given!r} is not NAME=FILE or TASK:NAME=FILE"])
        if task not in known:
            raise SettingsError([f"--data: task {task!r} has no study; allowed: {', '.join(known)}"])
        study = known[task]
        models = {model: study.models[model] for model in args.models or study.models if model in study.models}
        if not models:
            raise SettingsError([f"--models: none is a model of task {task}; allowed: {', '.join(study.models)}"])
        study = replace(study, models=models, lira_models=study.lira_models if args.lira is None else args.lira)
        changed = ({} if args.z0 is None else {"z0": args.z0}) | {"mixed_precision": args.mixed_precision}
        yield replace(study, settings=replace(study.settings, **changed)), name, Path(path)
