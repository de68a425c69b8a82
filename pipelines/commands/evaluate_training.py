"""`sottovoce evaluate training`: what each way of training understands, gives away and costs."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.models.errors import SettingsError

EXAMPLES = """\
  sottovoce evaluate training --data atis=atis.jsonl.gz --data snips=snips.jsonl.gz --data nlu_eval=nlu_eval.jsonl.gz
  sottovoce evaluate training --data snips=snips.jsonl.gz --models clc --methods SGD "per example" --out tables
  sottovoce evaluate training --data atis=atis.jsonl.gz --full --out tables_full
Data are JSON lines of tokens, tags, intent and split (train, test). --full takes the models of the paper, all the data
and 20 epochs, with 8 shadow models a row: hours per row on a CPU. Rows are saved, and a second call goes on."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", action="append", required=True, metavar="NAME=FILE", help="a data set; may be repeated"
    )
    parser.add_argument("--out", default="training_tables", metavar="DIR", help="(training_tables)")
    parser.add_argument("--models", nargs="+", choices=("clc", "bert"), default=["clc", "bert"], help="(both)")
    parser.add_argument(
        "--methods", nargs="+", metavar="M", help="some of: SGD, 'eDP-SGD, no decay', ... 'per example' (all)"
    )
    parser.add_argument("--z0", type=float, help="noise multiplier (0.5, with --full 1)")
    parser.add_argument(
        "--lira", type=int, metavar="K", help="shadow models of the per-example attack (0, with --full 8)"
    )
    parser.add_argument("--full", action="store_true", help="the paper's sizes instead of the quick ones")


def run(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from sottovoce.pipelines.studies.training_chart import draw
    from sottovoce.pipelines.studies.training_tables import FULL, METHODS, QUICK, run_study, table

    study = FULL if args.full else QUICK
    if args.z0 is not None:
        study = replace(study, settings=replace(study.settings, z0=args.z0))
    study = replace(study, models={name: study.models[name] for name in args.models})
    if args.lira is not None:
        if args.lira % 2 or args.lira < 0:
            raise SettingsError([f"--lira: {args.lira} is not 0 or an even number"])
        study = replace(study, lira_models=args.lira)
    methods = args.methods or list(METHODS)
    unknown = [method for method in methods if method not in METHODS]
    if unknown:
        raise SettingsError([f"--methods: {unknown[0]!r} is not known; allowed: {', '.join(METHODS)}"])
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for row in run_study(study, _datasets(args.data), methods, out):
        rows.append(row)
        print(table([row]).splitlines()[2], flush=True)
    (out / "table.md").write_text(table(rows))
    draw(rows, out / "chart.svg")
    print(f"\n{table(rows)}\ntable: {out / 'table.md'}   chart: {out / 'chart.svg'}")
    return 0


def _datasets(given: list[str]) -> dict[str, Path]:
    problems = [f"--data: {item!r} is not NAME=FILE" for item in given if "=" not in item]
    if problems:
        raise SettingsError(problems)
    return {name: Path(path) for name, path in (item.split("=", 1) for item in given)}
