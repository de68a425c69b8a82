"""`sottovoce finish`: commit a run that was submitted and left alone, once its job has ended."""

from __future__ import annotations

import argparse

EXAMPLES = """\
  sottovoce finish --run gs://bucket/out/run-0123456789ab
  sottovoce finish --run gs://bucket/out/run-0123456789ab --secret-file gs://vault/secret

The secret is needed where canaries went along for an audit: nobody else knows them again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="RUN", help="folder or URI of the run that was submitted")
    parser.add_argument("--secret-file", metavar="F", help="the secret of the run, where canaries went along")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.remote.detached import finish
    from sottovoce.pipelines.sanitize.one_secret import secret_for
    from sottovoce.pipelines.sanitize.one_writer import one_writer
    from sottovoce.pipelines.sanitize.print_summary import print_summary
    from sottovoce.pipelines.sanitize.run_folder import open_run

    folder = open_run(args.run)
    finished = folder.committed()
    if finished is not None:
        print_summary(folder, finished, "was finished before; nothing was done")
    else:
        with one_writer(folder.places.output.uri, f"finish {folder.name}", finishing=folder.name) as lock:
            committed = finish(folder, lock, lambda: secret_for(folder.places.output.uri, args.secret_file))
        print_summary(folder, committed, "is committed")
    return 0
