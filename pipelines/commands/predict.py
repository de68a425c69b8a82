"""`sottovoce predict`: what a trained model says of lines of text (or of recordings)."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

EXAMPLES = """\
  echo "wake me at six" | sottovoce predict --model out/trained/RUN/model
  sottovoce predict --model out/trained/RUN/model --input sentences.txt > answers.jsonl
slu: a sentence a line, answered with its intent and slots. lm: a line, answered with its log probability and perplexity.
dm: the turns of a dialogue, one a line, each answered with the act that should follow; an empty line begins another dialogue.
am: the path of a recording a line, answered with what was said."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder `model` that a training has left")
    parser.add_argument("--input", metavar="FILE", help="a text file, a line each (standard input)")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.errors import CorpusError
    from sottovoce.models.training.loop.export import load_trained

    model = load_trained(Path(args.model))
    try:
        with open(args.input, encoding="utf-8") if args.input else contextlib.nullcontext(sys.stdin) as given:
            for answer in model.answers(line.rstrip("\n") for line in given):
                print(json.dumps(answer, ensure_ascii=False), flush=True)
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"--input {args.input}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    return 0
