"""`sottovoce finish`: commit a run that was submitted and left alone, once its job has ended."""

from __future__ import annotations

import argparse

EXAMPLES = """\
  sottovoce finish --run gs://bucket/out/run-0123456789ab
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="RUN", help="folder or URI of the run that was submitted")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.detached import finish
    from sottovoce.pipelines.print_summary import print_summary
    from sottovoce.pipelines.run_folder import RunFolder

    output, _, name = args.run.rstrip("/").rpartition("/")
    folder = RunFolder(output or ".", name)
    finished = folder.committed()
    if finished is not None:
        print_summary(folder, finished, "was finished before; nothing was done")
    else:
        print_summary(folder, finish(folder), "is committed")
    return 0
