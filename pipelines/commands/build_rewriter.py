"""`sottovoce build rewriter`: train the auto-encoder of `rewrite: adept` from labelled text."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.models.errors import SettingsError

EXAMPLES = """\
  sottovoce build rewriter --data public.jsonl.gz --public --out my_rewriter    then: rewrite: {use: adept, model: my_rewriter}
  sottovoce build rewriter --data own.jsonl --epochs 12 --dimension 64 --out rewriter_without_guarantee
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, metavar="FILE",
        help="JSONL with tokens, tags and intent, or text, slots and intent; of files with splits, train; .gz too",
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the rewriter and its card go")
    parser.add_argument(
        "--public", action="store_true",
        help="the data is public: otherwise the rewriter may say what it has read, and the ledger states no guarantee",
    )  # fmt: skip
    for name, what in (("dimension", "length of the vector"), ("epochs", "passes over the data"),
                       ("words", "size of the vocabulary"), ("seed", "of the training")):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, metavar="N", help=what)
    parser.add_argument("--force", action="store_true", help="write over a rewriter that is there already")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.text.rewrite.builder import Recipe, card_for, train, write

    if args.out.exists() and any(args.out.iterdir()) and not args.force:
        raise SettingsError([f"--out: {args.out} is not empty; name another folder, or give --force"])
    names = ("dimension", "epochs", "words", "seed")
    recipe = Recipe(**{name: getattr(args, name) for name in names if getattr(args, name) is not None})
    sentences = [sentence for path in args.data for sentence in read_sentences(path)]
    if not sentences:
        raise SettingsError(["--data: no rows with an intent"])
    print(f"{len(sentences):,} sentences", flush=True)
    vocabulary, arrays, right = train(sentences, recipe, lambda line: print(line, flush=True))
    sources = [path.name for path in args.data]
    write(args.out, vocabulary, arrays, card_for(recipe, sources, len(sentences), right, args.public))
    print(f"tokens of held-out sentences decoded right: {right:.1%}\nwritten: {args.out}")
    if not args.public:
        print("not --public: what the rewriter has read it may say again, so the ledger of a run states no guarantee")
    return 0


def read_sentences(path: Path) -> list[list[str]]:
    """Of the split `train`, or all where the file has no splits."""
    from sottovoce.models.text.rewrite.autoencoder import tokens_from
    from sottovoce.models.training.examples import read_corpus

    rows = read_corpus(path, "train").examples or read_corpus(path).examples
    return [tokens_from(row.tokens, row.tags, row.intent) for row in rows]
