"""`sottovoce challenge attack`: scores of the project's own attacker, made from the files of a challenge alone."""

from __future__ import annotations

import argparse

EXAMPLES = """\
  sottovoce challenge attack --dir DIR --encoder ge2e --out ours.txt
  sottovoce challenge score --run out/run-0123456789ab --scores ours.txt --name ours

Original recordings of each person are compared with each slice by a speaker encoder (docs/voice.md). Neither the run, nor its
secret, nor the key is looked at.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dir", required=True, metavar="DIR", help="what `sottovoce challenge` wrote")
    parser.add_argument("--encoder", default="ge2e", metavar="NAME", help="of docs/voice.md (ge2e)")
    parser.add_argument("--score", choices=("cosine", "centred"), default="centred", help="(centred)")
    parser.add_argument("--out", required=True, metavar="FILE", help="lines of: person slice score")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from sottovoce.models.settings import read_spec
    from sottovoce.pipelines.audit.outsider import scores_from_files

    encoder = read_spec("speakers", args.encoder).make()
    encoder.setup()
    found = scores_from_files(Path(args.dir), encoder, args.score)
    Path(args.out).write_text("".join(f"{who} {name} {score:.9g}\n" for (who, name), score in found.items()))
    print(f"{args.out}: {len(found)} trials")
    return 0
