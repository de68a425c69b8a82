"""`sottovoce evaluate norms`: how deep a private network of speech may be, by what its normalisation looks at."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  python tools/cut_words.py an4.jsonl --out words
  sottovoce evaluate norms --data words/words.jsonl --public words/public.jsonl --out norms
  sottovoce evaluate norms --data words/words.jsonl --public words/public.jsonl --test dev --norms layer --epsilons 8
Data are JSON lines of audio (a path), text (one sign) and split (train, dev, test); AudioMNIST becomes such a file by a line for
each recording. Every training is kept in --out when it is done: the same command goes on where it was stopped."""
NORMS = ("none", "paper", "public", "with_public", "group", "layer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, metavar="FILE", help="single words, each an example")
    parser.add_argument(
        "--public", required=True, metavar="FILE", help="words of nobody, for the statistics that need them"
    )
    parser.add_argument("--test", default="test", metavar="SPLIT", help="(test)")
    parser.add_argument("--norms", nargs="+", choices=NORMS, default=list(NORMS), help="(all)")
    parser.add_argument("--depths", nargs="+", type=int, default=[2, 6], metavar="N", help="(2 6)")
    parser.add_argument(
        "--epsilons", nargs="+", default=["8", "1", "none", "4", "2"], metavar="E", help="(8 1 none 4 2)"
    )
    parser.add_argument("--epochs", type=int, default=12, metavar="N", help="(12)")
    parser.add_argument("--learning-rate", type=float, default=1e-2, metavar="X", help="(0.01)")
    parser.add_argument("--out", default="norms", metavar="DIR", help="(norms)")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.training.loop.prepare import read_data
    from sottovoce.models.training.tasks import task_of
    from sottovoce.pipelines.studies.kept_steps import KeptSteps
    from sottovoce.pipelines.studies.norm_tables import NormStudy, cells, table

    train, test = (read_data(task_of("am"), args.data, split).examples for split in ("train", args.test))
    study = NormStudy(
        args.public, tuple(args.norms), tuple(args.depths),
        tuple(None if one == "none" else float(one) for one in args.epsilons),
        epochs=args.epochs, learning_rate=args.learning_rate,
    )  # fmt: skip
    kept, found = KeptSteps(Path(args.out) / "trainings"), list(cells(study, train, test))
    kept.announce([cell.step for cell in found])
    print(f"{len(train)} words to learn, {len(test)} of other speakers to recognise ({args.test})")
    for cell in found:
        kept.result(cell.step)
        (Path(args.out) / "table.md").write_text(table(found, kept))
    print(table(found, kept))
    return 0
