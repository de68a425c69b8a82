"""The launcher of the Dataflow flex template: submits one run and ends.

    python -m sottovoce.pipelines.remote.flex_template --input=gs://... --output=gs://... --secret_file=gs://... [Beam options]

It must not wait for the job: its machine is there to hand the graph over. `sottovoce finish --run URI` commits
the run when the job is done. With `--nightly=true` only what no earlier run has taken is sanitised, and each launch commits
the run that the launch before has submitted. With `--audit=true`, and every night (`audit.nightly`), canaries go along for the
audit that follows; they are known again by the secret, so `finish` needs it then. Parameters are those of
`runner_configs/dataflow/metadata.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence

from sottovoce.models.errors import SottovoceError
from sottovoce.pipelines.nightly.nights import submit_night
from sottovoce.pipelines.remote.detached import local_copy, submit
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.one_secret import secret_for
from sottovoce.pipelines.sanitize.one_writer import one_writer
from sottovoce.pipelines.sanitize.run import RunRequest, prepare, remember


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0, or 1 with the error on stderr; flags that are not its own go to Beam."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--secret_file", required=True)
    parser.add_argument("--config")
    parser.add_argument("--nightly", choices=("true", "false"), default="false")
    parser.add_argument("--audit", choices=("true", "false"), default="false")
    parser.add_argument("--set", default="", help="key=value, several separated by ;")
    args, beam_arguments = parser.parse_known_args(argv)
    try:
        launch(args, beam_arguments)
    except SottovoceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def launch(args: argparse.Namespace, beam_arguments: Sequence[str]) -> None:
    """Submit the run, or with `nightly` the next night, and print what to do next. A run that is committed already is left
    alone."""
    with tempfile.TemporaryDirectory() as scratch:
        config = local_copy(args.config, scratch) if args.config else None
        job_file = read_job(config, [assignment for assignment in args.set.split(";") if assignment])
    secret = secret_for(args.output, args.secret_file)
    nightly = args.nightly == "true"
    audited = job_file.sections["audit"].nightly if nightly else args.audit == "true"
    request = RunRequest(job_file, args.input, args.output, secret, "dataflow", 1, tuple(beam_arguments), audited)
    if nightly:
        print(json.dumps(submit_night(request, job_file.sections["nightly"])))
        return
    prepared = prepare(request)
    if prepared.folder.committed() is not None:
        print(f"run {prepared.folder.uri} was finished before; nothing was done")
        return
    with one_writer(args.output, prepared.folder.name) as lock:
        submit(remember(prepared), lock)
    needed = f" --secret-file {args.secret_file}" if audited else ""
    print(
        f"run {prepared.folder.uri} is submitted; commit it with: sottovoce finish --run {prepared.folder.uri}{needed}"
    )


if __name__ == "__main__":
    sys.exit(main())
