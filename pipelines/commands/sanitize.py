"""`sottovoce sanitize`: a corpus goes in, safe data sets come out."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.commands.audit import EXIT_FELL
from sottovoce.pipelines.commands.start_training import add_then_train, print_started, read_then_train

if TYPE_CHECKING:
    from sottovoce.pipelines.sanitize.job_file import JobFile
    from sottovoce.pipelines.sanitize.run import Run

SECRET_HELP = (
    "key of all draws: a file, URI, env:SOTTOVOCE_NAME or Beam's type:GcpSecret;... (default: OUT keeps its own)"
)

EXAMPLES = """\
  sottovoce sanitize --input examples/demo --output out
  sottovoce sanitize --input corpus/manifest.jsonl --output out --config job.yaml --secret-file secret
  sottovoce sanitize --input kaldi/data/train --output out --sinks stt_am --set slice.min_seconds=2 --dry-run
  sottovoce sanitize --input corpus --output out --audit
  sottovoce sanitize --input corpus --output out --sinks slu --then-train train.yaml --launch slurm
  sottovoce sanitize --input corpus --output out --runner flink -- --flink_master=flink:8081 --parallelism=8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", required=True, metavar="CORPUS", help="manifest, folder or URI of the corpus")
    parser.add_argument("--output", required=True, metavar="OUT", help="folder or URI; the run makes OUT/<run id>")
    parser.add_argument("--config", metavar="JOB.yaml", help="the job; without it, the defaults")
    parser.add_argument("--runner", choices=("direct", "flink", "dataflow"), default="direct", help="default: direct")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes of the direct runner (default 1)"
    )
    parser.add_argument("--secret-file", metavar="F", help=SECRET_HELP)
    parser.add_argument(
        "--sinks", nargs="+", metavar="SINK", help="only these: slu, or stt_lm=0.7 dm=0.3 (default: as the job says)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one value of the job")
    parser.add_argument(
        "--max-failures", metavar="N", help="stop when more records fail: a number, or a share like 0.1"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the plan and touch nothing")
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace the run if it is finished already, and release again what other runs in OUT have taken",
    )
    parser.add_argument(
        "--audit", action="store_true", help="then attack the committed run (exit code 3: it did not hold)"
    )
    add_then_train(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.local.beam_alone import import_beam_alone

    import_beam_alone(args.runner, args.config, sys.argv)

    from sottovoce.pipelines.sanitize.one_secret import secret_for

    job_file, secret = _job_of(args), secret_for(args.output, args.secret_file)
    training = read_then_train(args, job_file.sinks)

    audited = args.audit or (training is not None and training.plan.gate.audit)
    # A scheduler ends a job with SIGTERM: the lock is then released as on Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    from sottovoce.pipelines.sanitize.plan import print_plan
    from sottovoce.pipelines.sanitize.print_summary import print_summary
    from sottovoce.pipelines.sanitize.run import RunRequest, execute_once, prepare

    request = RunRequest(
        job_file, args.input, args.output, secret, args.runner, args.workers, tuple(args.beam_arguments), audited
    )
    prepared = prepare(request)
    if args.dry_run:
        print_plan(prepared.job, prepared.corpus, args.runner)
        return 0
    committed, before = execute_once(prepared, args.force)
    what = "was finished before; nothing was done (use --force to replace it)" if before else "is committed"
    print_summary(prepared.folder, committed, what)
    held = not audited or _holds(prepared, again=args.audit)
    if training is not None:
        from sottovoce.pipelines.training.start_training import start_training

        print_started(start_training(prepared.folder.uri, training, secret=secret), prepared.folder.uri)
    return 0 if held else EXIT_FELL


def _job_of(args: argparse.Namespace) -> JobFile:
    from sottovoce.pipelines.sanitize.job_file import read_job, sinks_assignment

    assignments = list(args.set)
    if args.sinks:
        assignments.append(sinks_assignment(args.sinks))
    if args.max_failures is not None:
        assignments.append(f"limits.max_failures={args.max_failures}")
    if args.workers < 1:
        raise SettingsError([f"--workers: {args.workers} must be at least 1"])
    job_file = read_job(args.config, assignments)
    if shares := job_file.said_of_shares():
        print(f"note: {shares}", file=sys.stderr)
    return job_file


def _holds(run: Run, again: bool) -> bool:
    """Whether the committed run holds out against attacks, which are told."""
    from sottovoce.pipelines.audit.after_commit import audit_commit
    from sottovoce.pipelines.audit.audit_run import lines

    content = audit_commit(run, again)
    print("\n".join(lines(content)))
    return bool(content["held"])
