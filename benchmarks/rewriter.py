"""What comes back of test sentences through the auto-encoder of `rewrite: adept`, by epsilon, in one table.

python benchmarks/rewriter.py --data snips.jsonl.gz --epsilon 200 50 8 1
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

from sottovoce.models.text.rewrite import autoencoder
from sottovoce.models.text.rewrite.adept import Adept
from sottovoce.models.training.examples import read_corpus

SHORT = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="JSONL with splits")
    parser.add_argument("--split", default="test", help="to choose by: valid or dev (default: test)")
    parser.add_argument("--rewriter", metavar="DIR", help="default: the one that ships")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[200.0, 50.0, 8.0, 1.0])
    parser.add_argument("--sentences", type=int, default=400)
    args = parser.parse_args()
    draw, coder = np.random.default_rng(0), autoencoder.load(args.rewriter)
    rows = read_corpus(args.data, args.split).examples
    chosen = [rows[at] for at in draw.permutation(len(rows))[: args.sentences]]
    said = [autoencoder.tokens_from(row.tokens, row.tags, row.intent) for row in chosen]
    vectors = coder.encode(said)
    print(f"{'epsilon':>8}{'intent kept':>13}{'tokens that come back':>23}{'short ones whole':>18}")
    for epsilon in (None, *args.epsilon):
        rewriter = Adept(epsilon=epsilon or 1.0, model=args.rewriter)
        moved = [rewriter.noisy(vector, draw) for vector in vectors] if epsilon else list(vectors)
        unit = np.stack([vector / max(1.0, np.linalg.norm(vector)) for vector in moved])
        found = coder.decode(unit, 1)
        pairs = list(zip(said, found, strict=True))
        kept = np.mean([bool(new) and new[0] == old[0] for old, new in pairs])
        shared = sum(sum((Counter(old) & Counter(new)).values()) for old, new in pairs)
        short = [old == new for (old, new), row in zip(pairs, chosen, strict=True) if len(row.tokens) <= SHORT]
        tokens = shared / sum(max(len(old), len(new)) for old, new in pairs)
        name = "no noise" if epsilon is None else f"{epsilon:g}"
        print(f"{name:>8}{kept:>12.1%} {tokens:>22.1%} {np.mean(short):>17.1%}", flush=True)


if __name__ == "__main__":
    main()
