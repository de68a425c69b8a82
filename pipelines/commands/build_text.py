"""`sottovoce build text`: train a detector of sensitive words from labelled text (COMPRISE's TT_Builder)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sottovoce.models.errors import SettingsError

EXAMPLES = """\
  sottovoce build text --data mine.jsonl --out my_tagger                then: detect: {use: tagger, model: my_tagger}
  sottovoce build text --data train.conll --arch flair --out my_flair
                                             then: detect: {use: flair, model: my_flair/model.pt, trust: true}
  sottovoce build text --data out/RUN --set train.epochs=5 --set train.device=cuda --out tagger_of_a_committed_run
  sottovoce build text --data massive/*.jsonl.gz --arch grams --recipe runner_configs/detect/multilingual_tagger.yaml --out many
  sottovoce build text --data data/*.jsonl.gz --recipe runner_configs/detect/default_tagger.yaml --out weights
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, metavar="PATH",
        help="JSONL (tokens and tags, or text and slots), CoNLL, or the folder of a committed run; .gz too",
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the model and its card go")
    parser.add_argument(
        "--arch", choices=("transformer", "grams", "flair"), default="transformer",
        help="default: transformer; grams: a small network for many languages, from nothing",
    )  # fmt: skip
    parser.add_argument(
        "--recipe", type=Path, metavar="YAML", help="corpora, augmentation, training; without it, defaults"
    )
    parser.add_argument(
        "--encoder", type=Path, metavar="FOLDER", help="pre-trained encoder (default: packaged MiniLM-L6)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="e.g. train.epochs=5")
    parser.add_argument("--force", action="store_true", help="write over a model that is there already")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.text.detect.builder.build import CHECKPOINT, build
    from sottovoce.models.text.detect.builder.recipe import read_recipe

    begun = args.arch == "grams" and (args.out / CHECKPOINT).is_file()  # interrupted: the same command goes on
    if args.out.exists() and any(args.out.iterdir()) and not args.force and not begun:
        raise SettingsError([f"--out: {args.out} is not empty; name another folder, or give --force"])
    recipe = read_recipe(_recipe_values(args.recipe, args.set))
    measured = build(args.data, recipe, args.arch, args.out, args.encoder, lambda line: print(line, flush=True))
    for corpus, row in measured.items():
        print(f"{corpus}: dev recall {row['recall']:.4f}, over-masking {row['over_masking']:.4f}")
    print(f"written: {args.out} (see MODEL_CARD.md)")
    return 0


def _recipe_values(path: Path | None, assignments: list[str]) -> dict[str, Any]:
    from sottovoce.pipelines.yaml_settings import read_assignment, read_mapping

    values = read_mapping(path, "--recipe") if path else {}
    for assignment in assignments:
        (*parents, last), value = read_assignment(assignment)
        at: Any = values
        for parent in parents:
            at = at.setdefault(parent, {})
            if not isinstance(at, dict):
                raise SettingsError([f"--set {assignment}: {parent} is a value and holds no settings"])
        at[last] = value
    return values
