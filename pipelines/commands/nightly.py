"""`sottovoce nightly`: sanitise what is new since the last night, for a scheduler to call."""

from __future__ import annotations

import argparse
import json
import signal
import sys

from sottovoce.models.errors import SettingsError, SottovoceError
from sottovoce.pipelines.commands.start_training import add_then_train, read_then_train

EXAMPLES = """\
  sottovoce nightly --config job.yaml
  sottovoce nightly --config job.yaml --input corpus --output out --secret-file secret
  sottovoce nightly --config job.yaml --then-train train.yaml --launch slurm
  sottovoce nightly --config job.yaml --runner flink -- --flink_master=flink:8081

one line of JSON tells what was done; exit codes:
  0   done, or nothing was new
  1   failed; nothing was committed, and the next night takes it up
  2   the settings are wrong
  3   the night is done, but its training was not started: `training` says why
  75  another night or run is still at work in OUT (try later)
"""

EXIT_NOT_TRAINED = 3
EXIT_BUSY = 75  # EX_TEMPFAIL of sysexits.h


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="JOB.yaml", help="the job, with its `nightly` section")
    parser.add_argument("--input", metavar="CORPUS", help="wins over nightly.input")
    parser.add_argument("--output", metavar="OUT", help="wins over nightly.output")
    parser.add_argument(
        "--secret-file", metavar="F", help="wins over nightly.secret_file; without either OUT keeps its own"
    )
    parser.add_argument("--runner", choices=("direct", "flink", "dataflow"), default="direct", help="default: direct")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes of the direct runner (default 1)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one value of the job")
    add_then_train(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.local.beam_alone import import_beam_alone

    import_beam_alone(args.runner, args.config, sys.argv)

    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.sanitize.one_secret import secret_for

    job_file = read_job(args.config, args.set)
    settings = job_file.sections["nightly"]
    input_uri, output = args.input or settings.input, args.output or settings.output
    missing = {"input": input_uri, "output": output}
    problems = [
        f"nightly.{name}: missing; give it in the job or as a flag" for name, value in missing.items() if not value
    ]
    if problems:
        raise SettingsError(problems)
    secret = secret_for(output, args.secret_file or settings.secret_file)
    training = read_then_train(args, job_file.sinks)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    from sottovoce.pipelines.nightly.nights import run_night
    from sottovoce.pipelines.sanitize.one_writer import Busy
    from sottovoce.pipelines.sanitize.run import RunRequest

    request = RunRequest(
        job_file,
        input_uri,
        output,
        secret,
        args.runner,
        args.workers,
        tuple(args.beam_arguments),
        job_file.sections["audit"].nightly,
    )
    try:
        summary = run_night(request, settings, training)
    except Busy as error:
        print(json.dumps({"status": "busy", "error": str(error)}))
        return EXIT_BUSY
    except SottovoceError as error:
        print(json.dumps({"status": "failed", "error": str(error)}))
        raise
    print(json.dumps(summary))
    return EXIT_NOT_TRAINED if any(row["status"] == "not_started" for row in summary["training"]) else 0
