"""`sottovoce evaluate utility`: what training data is worth after each strategy of replacement."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.models.errors import RunError, SettingsError

if TYPE_CHECKING:
    from sottovoce.models.evaluation.metrics.utility import Cell, Score, Sentence

EXAMPLES = """\
  sottovoce evaluate utility --data atis.jsonl.gz snips.jsonl.gz --quick --out study
  sottovoce evaluate utility --data mine.jsonl --strategies none word typed --epsilon 6 8 10 --spans detector
"""


@dataclass(frozen=True)
class Size:
    """Sentences to train on and to test on, where None takes all of them, and epochs of training."""

    train: int | None
    test: int | None
    epochs: int


FULL, QUICK = Size(None, None, 8), Size(1000, 2000, 6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, metavar="FILE",
        help="JSONL with tokens, tags, intent and the splits train and test",
    )  # fmt: skip
    parser.add_argument(
        "--splits", nargs=2, default=["train", "test"], metavar=("TRAIN", "TEST"),
        help="what they are called; twice the same: a stable fifth of its dialogues is for testing",
    )  # fmt: skip
    parser.add_argument(
        "--acts", nargs="+", default=[], metavar="INTENT",
        help="learn dialogue acts: these intents, and `request` for all others",
    )  # fmt: skip
    parser.add_argument("--strategies", nargs="+", metavar="NAME", help="default: none and every strategy")
    parser.add_argument(
        "--epsilon", nargs="*", type=float, default=[6.0, 8.0, 10.0], metavar="E",
        help="of one replaced unit, for word, full and consistent; p = 1 (epsilon 0) is always measured",
    )  # fmt: skip
    parser.add_argument(
        "--p-mode", nargs="+", choices=("uniform", "token"), default=["uniform"],
        help="at each epsilon: one p for all values, one for each, or both side by side",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="trainings for each cell (default: 3)")
    parser.add_argument("--spans", choices=("gold", "detector"), default="gold", help="what is sensitive")
    parser.add_argument("--detector", default="default", metavar="NAME", help="for --spans detector")
    parser.add_argument(
        "--values", choices=("public", "corpus_raw"), default="public",
        help="surrogates of the public lists, or of the corpus itself as the published study does (no guarantee)",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help=f"{QUICK.train} training sentences, {QUICK.test} of test")
    for name, what in (("train", "training sentences"), ("test", "test sentences"), ("epochs", "epochs of training")):
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"{what}, instead of those of the setting")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="keep utility.json and the chart utility.png; other sets measured into it before stay",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.studies.measure_utility import STRATEGIES, read_study, run_cell, variants

    strategies = args.strategies or STRATEGIES
    _check(args, strategies, STRATEGIES)
    given = {name: getattr(args, name) for name in ("train", "test", "epochs") if getattr(args, name)}
    size = replace(QUICK if args.quick else FULL, **given)
    detector = _detector(args.detector) if args.spans == "detector" else None
    measure = _Trained(size.epochs)
    cells: list[Cell] = []
    for path in args.data:
        study = read_study(path, size.train, size.test, detector, args.splits[1], args.splits[0], args.acts)
        spans = sum(len(utterance.spans) for utterance in study.train)
        if not args.json:
            print(f"{study.corpus}: {len(study.train):,} training sentences with {spans:,} sensitive spans, "
                  f"{len(study.test):,} of test; {args.seeds} seeds\n{_HEADER}")  # fmt: skip
        for variant in variants(strategies, args.epsilon, args.p_mode):
            cells.append(run_cell(study, variant, args.seeds, args.values, measure))
            plain = next((c for c in cells if (c.corpus, c.strategy) == (study.corpus, "none")), None)
            if not args.json:
                print(_row(cells[-1], plain), flush=True)
    if args.json:
        print(json.dumps([cell.as_dict() for cell in cells], indent=2))
    if args.out:
        _keep(args.out, cells)
    return 0


class _Trained:
    """Train the yardstick and test it. Torch is loaded here, once, and kept to one thread."""

    def __init__(self, epochs: int):
        try:
            import torch

            from sottovoce.models.evaluation.metrics.understanding import IntentReader, ReaderTraining
        except ModuleNotFoundError as error:
            raise RunError(f"{error.name} is not installed; pip install 'sottovoce[bench]'") from None
        torch.set_num_threads(1)  # small batches: a second thread only waits
        self._make = lambda: IntentReader(ReaderTraining(epochs=epochs))

    def __call__(self, train: Sequence[Sentence], test: Sequence[Sentence], seed: int) -> Score:
        return self._make().fit(train, seed).measure(test)


_MEASURES = (("intent accuracy", "intent_accuracy"), ("macro accuracy", "macro_accuracy"), ("slot F1", "slot_f1"))
_HEADER = (
    f"  {'strategy':<23}{'epsilon':>7}"
    + "".join(f"{title:>17}{'against none':>15}" for title, _ in _MEASURES)
    + f"{'changed':>10}{'refused':>9}{'bits a word':>13}"
)


def _row(cell: Cell, plain: Cell | None) -> str:
    """Mean and deviation over seeds of each measure, and the difference to no replacement with its 95 % interval."""
    from sottovoce.models.evaluation.metrics.utility import against

    epsilon = "-" if cell.epsilon is None else f"{cell.epsilon:g}"
    shown = ""
    for spread, (_, measure) in zip((cell.accuracy, cell.macro_accuracy, cell.slot_f1), _MEASURES, strict=True):
        apart = against(cell, plain, measure) if plain is not None and plain is not cell else None
        difference = "-" if apart is None else f"{100 * apart[0]:+.2f} ± {100 * apart[1]:.2f}"
        shown += f"{'-' if spread is None else str(spread):>17}{difference:>15}"
    return f"  {cell.strategy:<23}{epsilon:>7}{shown}{100 * cell.changed:>8.1f} %{cell.refused:>9}{cell.bits:>13.2f}"


def _check(args: argparse.Namespace, strategies: Sequence[str], known: Sequence[str]) -> None:
    problems = [f"--strategies: {name!r} is not known; allowed: {', '.join(known)}"
                for name in strategies if name not in known]  # fmt: skip
    problems += [f"--epsilon: {value:g} must lie in (0, 50]" for value in args.epsilon if not 0 < value <= 50]
    if args.seeds < 1:
        problems.append(f"--seeds: {args.seeds} must be at least 1")
    if problems:
        raise SettingsError(problems)


def _detector(name: str):
    from sottovoce.models.settings import read_spec

    detector = read_spec("detect", name).make()
    detector.setup()
    return detector


def _keep(folder: Path, cells: Sequence[Cell]) -> None:
    from sottovoce.models.evaluation.metrics.utility import Cell

    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "utility.json"
    before = [Cell.from_dict(row) for row in json.loads(kept.read_text("utf-8"))] if kept.is_file() else []
    cells = [*(cell for cell in before if cell.corpus not in {new.corpus for new in cells}), *cells]
    kept.write_text(json.dumps([cell.as_dict() for cell in cells], indent=1) + "\n", "utf-8")
    try:
        from sottovoce.pipelines.studies.utility_chart import draw

        draw(cells, folder / "utility.png")
    except ModuleNotFoundError:
        print("no chart: matplotlib is not installed; pip install 'sottovoce[bench]'", file=sys.stderr)
