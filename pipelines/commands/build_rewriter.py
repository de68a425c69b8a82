"""`sottovoce build rewriter`: train the auto-encoder of `rewrite: adept` from labelled text."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

from sottovoce.models.errors import SettingsError

EXAMPLES = """\
  sottovoce build rewriter --data public.jsonl.gz --public --out my_rewriter    then: rewrite: {use: adept, model: my_rewriter}
  sottovoce build rewriter --data own.jsonl --epochs 12 --dimension 64 --out rewriter_without_guarantee
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, metavar="FILE",
        help="JSONL with tokens, tags and intent, or text, slots and intent; .gz too",
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the rewriter and its card go")
    parser.add_argument(
        "--public", action="store_true",
        help="the data is public: otherwise the rewriter may say what it has read, and the ledger states no guarantee",
    )  # fmt: skip
    for name, what in (("dimension", "length of the vector"), ("epochs", "passes over the data"),
                       ("words", "size of the vocabulary"), ("batch", "sentences of a step"), ("seed", "of the training"),
                       ("sentences", "so many of the data, drawn at random (default: all)")):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, metavar="N", help=what)
    parser.add_argument("--start", metavar="DIR", help="go on from this rewriter, with its vocabulary and sizes")
    parser.add_argument(
        "--split", default="train", metavar="NAME", help="of files with splits, the one to read (train)"
    )
    parser.add_argument("--force", action="store_true", help="write over a rewriter that is there already")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.text.rewrite.autoencoder import load, write
    from sottovoce.pipelines.builders.train_rewriter import RewriterRecipe, card_for, train

    if args.out.exists() and any(args.out.iterdir()) and not args.force:
        raise SettingsError([f"--out: {args.out} is not empty; name another folder, or give --force"])
    names = ("dimension", "epochs", "words", "batch", "seed")
    recipe = RewriterRecipe(**{name: getattr(args, name) for name in names if getattr(args, name) is not None})
    sentences = [sentence for path in args.data for sentence in read_sentences(path, args.split)]
    if args.sentences is not None and 0 < args.sentences < len(sentences):
        sentences = random.Random(recipe.seed).sample(sentences, args.sentences)
    if not sentences:
        raise SettingsError(["--data: no rows with an intent"])
    print(f"{len(sentences):,} sentences", flush=True)
    start = load(args.start) if args.start else None
    made = train(sentences, recipe, lambda line: print(line, flush=True), start)
    before: dict[str, Any] = (
        start.card if start else {"public": True, "trained_on": []}
    )  # what it has read, it has read
    sources = [*before.get("trained_on", ["not known"]), *(f"{path.name} ({args.split})" for path in args.data)]
    public = args.public and bool(before.get("public"))
    card = card_for(recipe, list(dict.fromkeys(sources)), len(sentences), made, public)
    write(args.out, made.vocabulary, made.arrays, card)
    print(
        f"held-out sentences: {made.tokens_right:.1%} of the tokens decoded right, told the ones before; "
        f"{made.short_whole:.1%} of the short ones come back whole\nwritten: {args.out}"
    )
    if not public:
        print(
            "not public: what the rewriter has read it may say again, so the ledger of a run states no guarantee. "
            "`sottovoce train` with task: rewriter trains one with differential privacy"
        )
    return 0


def read_sentences(path: Path, split: str) -> list[list[str]]:
    """Of the split, or all where the file has no splits."""
    from sottovoce.models.text.rewrite.autoencoder import tokens_from
    from sottovoce.models.training.examples import read_corpus

    rows = read_corpus(path, split).examples
    if not rows and not read_corpus(path, "train").examples:
        rows = read_corpus(path).examples
    return [tokens_from(row.tokens, row.tags, row.intent) for row in rows]
