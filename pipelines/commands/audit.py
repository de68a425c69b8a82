"""`sottovoce audit`: attack a committed run with what an outsider could have, and say whether it held."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from sottovoce.models.errors import RunError

if TYPE_CHECKING:
    from sottovoce.pipelines.sanitize.run_folder import RunFolder

EXAMPLES = """\
  sottovoce audit --run out/run-0123456789ab --input corpus
  sottovoce audit --run out/run-0123456789ab --input corpus --auxiliary posts.jsonl --secret-file secret
  sottovoce audit --run out/run-0123456789ab --input corpus --set audit.max_risk='{singling_out: 0.1}' --json
  sottovoce audit --run out/run-0123456789ab --input corpus --full
  sottovoce audit --run out/run-0123456789ab --input corpus --training train.yaml
  sottovoce audit --run out/run-0123456789ab --format opendp > deployment.yaml

The corpus and the secret only judge the guesses; without --input, attacks that need it are not measurable. What was found
is kept in OUT/private/runs/RUN/audit.json, where the gate before training reads it: counts and rates, nobody's words or id.
Exit codes:
  0   the run held
  1   the audit could not be made
  2   the settings are wrong
  3   the run did not hold, or an attack could not be measured (audit.unmeasured: refuse)
"""
EXIT_FELL = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="OUT/ID", help="the committed run")
    parser.add_argument("--input", metavar="CORPUS", help="the corpus that the run was made of")
    parser.add_argument("--secret-file", metavar="F", help="the secret of the run; needed unless OUT keeps its own")
    parser.add_argument(
        "--auxiliary", metavar="CORPUS", help="what the attacker knows of the same speaker ids from elsewhere"
    )
    parser.add_argument(
        "--config", metavar="JOB.yaml", help="the job, with its `audit` section (default: the run's own)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one value of the job")
    parser.add_argument(
        "--traits",
        metavar="TABLE.csv",
        help="speaker_id and a column for each trait (gender, age, accent) that attackers are to guess",
    )
    parser.add_argument(
        "--training",
        metavar="TRAIN.yaml",
        help="also train a model of these settings with canaries, measure what it gives away, and drop it",
    )
    parser.add_argument("--full", action="store_true", help="attack every record: for releases")
    parser.add_argument("--json", action="store_true", help="print the content of audit.json")
    parser.add_argument(
        "--format",
        choices=("opendp",),
        help="print what was found before as an entry of OpenDP's registry of deployments",
    )


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.local.beam_alone import import_beam_alone

    import_beam_alone("direct", args.config, sys.argv)

    from sottovoce.pipelines.audit.audit_run import AuditRequest, audit, job_of_run, lines
    from sottovoce.pipelines.sanitize.one_secret import secret_at_hand, secret_for
    from sottovoce.pipelines.sanitize.run_folder import open_run

    folder = open_run(args.run)
    if args.format:
        return _print_entry(folder)
    job = job_of_run(folder.uri, args.config, args.set)
    needed = args.input is not None or args.auxiliary is not None
    output = folder.places.output.uri
    secret = secret_for(output, args.secret_file) if needed else secret_at_hand(folder.uri, args.secret_file)
    request = AuditRequest(folder.uri, job, args.input, secret, args.auxiliary, args.full, args.training, args.traits)
    content = audit(request, folder, lambda step: print(f"audit: {step}", file=sys.stderr))
    print(json.dumps(content, indent=2) if args.json else "\n".join(lines(content)))
    if not args.json:
        print(f"kept in {folder.places.audit}; for an officer: {folder.places.audit_page}")
    return 0 if content["held"] else EXIT_FELL


def _print_entry(folder: RunFolder) -> int:
    import yaml

    from sottovoce.models.ledger.book import from_json
    from sottovoce.pipelines.audit.officers_page import registry_entry
    from sottovoce.pipelines.sanitize.run_files import open_committed
    from sottovoce.pipelines.training.start_training import read_audit

    run = open_committed(folder.uri)
    content = read_audit(folder, run.digest)
    if not content:
        raise RunError(f"{folder.uri}: was not attacked yet; first: sottovoce audit --run {folder.uri} --input CORPUS")
    entry = registry_entry(content, from_json(run.read("ledger.json").decode()))
    print(yaml.safe_dump(entry, sort_keys=False, allow_unicode=True), end="")
    return 0
