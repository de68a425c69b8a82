"""`sottovoce evaluate rewrite`: what rewriting leaves for those who train on a corpus, and for those who attack it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.models.errors import RunError, SettingsError

if TYPE_CHECKING:
    from sottovoce.pipelines.studies.measure_rewrite import MeasuredRewrite, MeasuredStrategy

EXAMPLES = """\
  sottovoce evaluate rewrite --data snips.jsonl.gz --strategy none replace crowd --epsilon 1 4 --out study
  sottovoce evaluate rewrite --data mine.jsonl --strategy crowd metric --epsilon 1 2 4 8 --quick --json
  sottovoce evaluate rewrite --data mine.jsonl --strategy crowd --test-split dev --ladder full=1 full=0.8,parts=0.2
"""
QUICK_TRAIN, QUICK_TEST = 4000, 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", nargs="+", type=Path, default=[], metavar="FILE",
        help="JSONL with tokens, tags, intent and the splits train and test",
    )  # fmt: skip
    parser.add_argument("--strategy", nargs="+", metavar="NAME", help="none replace crowd adept metric (default: all)")
    parser.add_argument(
        "--epsilon", nargs="+", type=float, default=[1.0, 2.0, 4.0, 8.0], metavar="E",
        help="of a speaker (crowd), an utterance (adept), a distance of 1 (metric); default: 1 2 4 8",
    )  # fmt: skip
    parser.add_argument("--delta", type=float, default=1e-6, help="for crowd and adept (default: 1e-6)")
    parser.add_argument("--rewriter", metavar="DIR", help="auto-encoder of adept; without it the one that ships")
    parser.add_argument(
        "--slots", type=int, default=0, metavar="EPOCHS", help="also train a reader of slots for so many"
    )
    parser.add_argument(
        "--unit", choices=("utterance", "dialogue"), default="utterance",
        help="who a speaker is to crowd: every sentence one of its own (default), or every dialogue of the file",
    )  # fmt: skip
    parser.add_argument(
        "--ladder",
        nargs="+",
        metavar="RUNG=SHARE,...",
        help="of crowd: one or more ladders to compare (default: its own)",
    )
    parser.add_argument(
        "--test-split", default="test", metavar="NAME", help="to choose options: dev or valid (default: test)"
    )
    parser.add_argument(
        "--public", metavar="SPLIT",
        help="sentences of this split are public: every learner has them as well, as the rewriter of adept may",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="draws of each strategy (default: 1)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_TRAIN} training sentences, {QUICK_TEST} of test")
    parser.add_argument("--train", type=int, metavar="N", help="training sentences, drawn from the file")
    parser.add_argument("--test", type=int, metavar="N", help="test sentences")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep rewrite.json and the chart rewrite.png")
    parser.add_argument(
        "--join",
        nargs="+",
        type=Path,
        default=[],
        metavar="DIR",
        help="studies that --out kept, to show in the same chart",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.studies.measure_rewrite import STRATEGIES, measure
    from sottovoce.pipelines.studies.measure_utility import read_study

    _check(args, STRATEGIES)
    train, test = (QUICK_TRAIN, QUICK_TEST) if args.quick else (args.train, args.test)
    rows = [row for folder in args.join for row in _kept(folder)]
    for path in args.data:
        study = read_study(path, train, test, test_split=args.test_split)
        public = read_study(path, None, 1, train_split=args.public).train if args.public else ()
        if args.unit == "utterance":
            study = dataclasses.replace(
                study, train=tuple(dataclasses.replace(one, dialogue_id=one.id) for one in study.train)
            )
        if not args.json:
            print(
                f"{study.corpus}: {len(study.train):,} training sentences, {len(study.test):,} of test\n{_HEADER}",
                flush=True,
            )
        for strategy in _strategies(args, STRATEGIES):
            for seed in range(args.seeds):
                rows.append(measure(study.corpus, strategy, study.train, study.test, seed, args.slots, public))
                if not args.json:
                    print(_row(rows[-1]), flush=True)
    if args.json:
        print(json.dumps([row.as_dict() for row in rows], indent=2))
    if args.out:
        _keep(args.out, rows)
    return 0


def _strategies(args: argparse.Namespace, known: tuple[str, ...]) -> list[MeasuredStrategy]:
    from sottovoce.pipelines.studies.measure_rewrite import NONE, REPLACE, MeasuredStrategy

    found = []
    for name in args.strategy or known:
        epsilons = [None] if name in (NONE, REPLACE) else sorted(set(args.epsilon))
        ladders = [_ladder(text) for text in args.ladder or ()] if name == "crowd" else []
        found += [
            MeasuredStrategy(name, epsilon, args.delta, args.rewriter, args.unit, ladder)
            for epsilon in epsilons
            for ladder in ladders or [()]
        ]
    return found


def _ladder(text: str) -> tuple[tuple[str, float], ...]:
    try:
        return tuple((rung, float(share)) for rung, _, share in (part.partition("=") for part in text.split(",")))
    except ValueError:
        raise SettingsError([f"--ladder: {text!r} is not RUNG=SHARE,..., as in full=0.8,parts=0.2"]) from None


_HEADER = (
    f"  {'strategy':<9}{'epsilon':>8}  {'guarantee':<24}{'released':>9}{'intents right':>17}{'slot F1':>9}"
    f"{'membership AUC':>24}{'triples once/2-9/10+':>22}{'found in 1000':>15}"
)


def _row(row: MeasuredRewrite) -> str:
    epsilon = "-" if row.epsilon is None else f"{row.epsilon:g}"
    slots = "-" if row.slot_f1 is None else f"{100 * row.slot_f1:.1f}"
    accuracy = f"{100 * row.intent_accuracy:.2f} ± {100 * row.intent_interval:.2f}"
    auc = f"{row.membership_auc:.3f} ({row.membership_low:.3f}, {row.membership_high:.3f})"
    triples = " / ".join(f"{100 * share:.1f}" for share in row.triples.values())
    found = "nobody's" if row.found_among_1000 is None else f"{100 * row.found_among_1000:.1f} %"
    ladder = "  " + ", ".join(f"{rung} {share:g}" for rung, share in row.ladder.items()) if row.ladder else ""
    ladder += f"  with {row.public} public sentences" if row.public else ""
    return (
        f"  {row.strategy:<9}{epsilon:>8}  {row.guarantee:<24}{100 * row.released:>7.1f} %{accuracy:>17}{slots:>9}"
        f"{auc:>24}{triples:>22}{found:>15}{ladder}"
    )


def _check(args: argparse.Namespace, known: tuple[str, ...]) -> None:
    problems = [] if args.data or args.join else ["--data: missing; give a corpus, or studies to --join"]
    problems += [f"--strategy: {name!r} is not known; allowed: {', '.join(known)}"
                for name in args.strategy or () if name not in known]  # fmt: skip
    problems += [f"--epsilon: {value:g} must lie in (0, 50]" for value in args.epsilon if not 0 < value <= 50]
    problems += [f"--{name}: {getattr(args, name)} must be at least 1" for name in ("seeds", "train", "test")
                 if getattr(args, name) is not None and getattr(args, name) < 1]  # fmt: skip
    if not 0 < args.delta < 0.1:
        problems.append(f"--delta: {args.delta:g} must lie between 0 and 0.1")
    if problems:
        raise SettingsError(problems)


def _kept(folder: Path) -> list[MeasuredRewrite]:
    from sottovoce.pipelines.studies.measure_rewrite import MeasuredRewrite

    try:
        return [MeasuredRewrite(**row) for row in json.loads((folder / "rewrite.json").read_text("utf-8"))]
    except (OSError, ValueError, TypeError):
        raise SettingsError([f"--join: {folder} holds no rewrite.json that this command wrote"]) from None


def _keep(folder: Path, rows: list[MeasuredRewrite]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rewrite.json").write_text(json.dumps([row.as_dict() for row in rows], indent=1) + "\n", "utf-8")
    try:
        from sottovoce.pipelines.studies.rewrite_chart import draw

        draw(rows, folder / "rewrite.png")
    except ModuleNotFoundError as error:
        print(f"no chart: {error.name} is not installed; pip install 'sottovoce[bench]'", file=sys.stderr)
    except OSError as error:
        raise RunError(f"--out {folder}: {error.strerror}") from None
