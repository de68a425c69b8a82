"""`sottovoce evaluate scores`: EER, Cllr, Cllr_min and D_sys of anybody's lists of scores."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from sottovoce.models.errors import CorpusError

EXAMPLES = """\
  sottovoce evaluate scores --mated same.txt --non-mated different.txt
  sottovoce evaluate scores --mated same.txt --non-mated different.txt --json
"""
ALLOWED = "allowed: one finite number a line, and nothing else"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mated", required=True, metavar="FILE", help="scores of pairs of one speaker, one a line")
    parser.add_argument(
        "--non-mated", required=True, metavar="FILE", help="scores of pairs of two speakers, one a line"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.evaluation.metrics import TABLE
    from sottovoce.models.settings import resolve

    mated, other = read_scores(args.mated), read_scores(args.non_mated)
    figures = {name: figure for row in TABLE.values() for name, figure in resolve(row)(mated, other).items()}
    if args.json:
        out: dict[str, object] = {name: figure.value for name, figure in figures.items()}
        out |= {f"{name}_interval": [figure.low, figure.high] for name, figure in figures.items()}
        print(json.dumps(out | {"mated": len(mated), "non_mated": len(other)}, indent=2))
        return 0
    print(f"{len(mated)} mated and {len(other)} non-mated scores; 95 % intervals over draws of scores")
    for name, figure in figures.items():
        print(f"  {name:<15} {figure.value:.4f}  ({figure.low:.4f} to {figure.high:.4f})")
    print("  Shuffled labels give d_sys_by_chance: a d_sys that is not above it is chance.")
    return 0


def read_scores(path: str) -> list[float]:
    """The numbers of a file; blank lines are passed over."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"{path}: cannot be read as text; {ALLOWED}") from None
    scores = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            score = float(line)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise CorpusError(f"{path}, line {number}: not a finite number; {ALLOWED}")
        scores.append(score)
    if not scores:
        raise CorpusError(f"{path}: holds no score; {ALLOWED}")
    return scores
