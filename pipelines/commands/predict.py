"""`sottovoce predict`: what a trained model says of lines of text (or of recordings)."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.models.training.loop.export import TrainedModel

EXAMPLES = """\
  echo "wake me at six" | sottovoce predict --model out/trained/RUN/model
  sottovoce predict --model out/trained/RUN/model --input sentences.txt > answers.jsonl
  sottovoce predict --model out/trained/RUN/model --arpa lm.arpa --sample 50000
  sottovoce predict --model out/trained/RUN/model --traced am.pt2      # for torch.export.load, without sottovoce
slu: a sentence a line, answered with its intent and slots. lm: a line, answered with its log probability and perplexity.
dm: the turns of a dialogue, one a line, each answered with the act that should follow; an empty line begins another dialogue.
am: the path of a recording a line, answered with what was said."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder `model` that a training has left")
    parser.add_argument("--arpa", metavar="FILE", help="lm: write a 3-gram model for recognisers instead of answering")
    parser.add_argument(
        "--sample", type=int, default=20_000, metavar="N", help="--arpa: lines made up by the model (20000)"
    )
    parser.add_argument("--traced", metavar="FILE", help="am: write the network by torch.export instead of answering")
    parser.add_argument("--input", metavar="FILE", help="a text file, a line each (standard input)")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.errors import CorpusError
    from sottovoce.models.training.loop.export import load_trained

    model = load_trained(Path(args.model))
    if args.arpa:
        return _write_arpa(model, args.arpa, args.sample)
    if args.traced:
        from sottovoce.models.training.loop.traced import write_traced

        write_traced(model, Path(args.traced))
        print(f"for torch.export.load: {args.traced}")
        return 0
    try:
        with open(args.input, encoding="utf-8") if args.input else contextlib.nullcontext(sys.stdin) as given:
            for answer in model.answers(line.rstrip("\n") for line in given):
                print(json.dumps(answer, ensure_ascii=False), flush=True)
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"--input {args.input}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    return 0


def _write_arpa(model: TrainedModel, path: str, lines: int) -> int:
    """From lines that the model makes up: a recogniser needs n-grams, and made-up lines cost nothing more."""
    from sottovoce.models.errors import SettingsError
    from sottovoce.models.training.ngrams.backoff import backoff_of, grams_of
    from sottovoce.models.training.tasks.lm import LanguageModelling

    if not isinstance(model.task, LanguageModelling):
        raise SettingsError(["--arpa: only a language model (task: lm) becomes an ARPA file"])
    if lines < 1:
        raise SettingsError([f"--sample: {lines} is less than 1"])
    if model.member.counts:
        found = model.network
    else:
        said = list(model.task.sample(model.network, model.member, lines, seed=0))
        known = {word: 1 for line in said for word in line}
        counts = Counter(gram for line in said for gram in grams_of(line, known))
        found = backoff_of(counts, known)
    with open(path, "w", encoding="utf-8") as file:
        found.write(file)
    print(f"{len(found.logs)} n-grams: {path}")
    return 0
