"""`sottovoce export`: a committed run as a Kaldi data directory, NeMo manifests, Lhotse cuts or CoNLL columns."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.models.errors import RunError
from sottovoce.models.export import TABLE

EXAMPLES = """\
  sottovoce export --run out/run-0123456789ab --format kaldi --output data/train
  sottovoce export --run out/run-0123456789ab --format nemo --output manifests --force
  sottovoce export --run out/run-0123456789ab --format lhotse --output cuts
  sottovoce export --run gs://bucket/out/run-0123456789ab --format conll --output slu
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="OUT/RUN", help="folder or URI of a committed run")
    parser.add_argument("--format", required=True, choices=tuple(TABLE), help="layout to write")
    parser.add_argument("--output", required=True, metavar="DIR", type=Path, help="local folder to make")
    parser.add_argument("--force", action="store_true", help="replace an export that is there already")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.export.folder import export
    from sottovoce.models.settings import resolve
    from sottovoce.pipelines.sanitize.run_files import open_committed

    committed = open_committed(args.run)
    try:
        counts = export(committed, args.format, args.output, force=args.force)
    except OSError as error:
        raise RunError(f"{args.output} could not be written: {error.strerror}; nothing was left there") from None
    print(
        f"{committed.run_id} as {args.format} in {args.output}: may be handed on, as may the run; OUT/private may not"
    )
    for name, count in counts.items():
        print(f"  {name:<14} {count:>9,} records")
    print(resolve(TABLE[args.format]).says)
    return 0
