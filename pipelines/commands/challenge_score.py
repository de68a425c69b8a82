"""`sottovoce challenge score`: an outsider's scores, judged with the key and written into the audit."""

from __future__ import annotations

import argparse

from sottovoce.models.errors import RunError

EXAMPLES = """\
  sottovoce challenge score --run out/run-0123456789ab --scores theirs.txt --name team_a

One line for each line of trials/trials: person, slice, score. What is found stands under `others` in audit.json, by its name,
where `max_audit` of a launch file can ask for it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="OUT/ID", help="the run of the challenge")
    parser.add_argument("--scores", required=True, metavar="FILE", help="lines of: person slice score")
    parser.add_argument("--name", default="challenge", metavar="NAME", help="of whoever sent them (default: challenge)")


def run(args: argparse.Namespace) -> int:
    from apache_beam.io.filesystems import FileSystems

    from sottovoce.pipelines.audit.audit_run import no_start_meanwhile
    from sottovoce.pipelines.audit.challenge import as_result, judged, read_scores
    from sottovoce.pipelines.sanitize.run_files import open_committed
    from sottovoce.pipelines.sanitize.run_folder import open_run, read_json, write_json
    from sottovoce.pipelines.training.start_training import read_audit

    folder = open_run(args.run)
    place, commit = folder.places.challenge, open_committed(folder.uri).digest
    kept = read_json(place) if FileSystems.exists(place) else {}
    if kept.get("commit") != commit:
        raise RunError(f"{folder.uri}: there is no challenge of these records; make one with: sottovoce challenge")
    found, rate = judged(read_scores(args.scores, kept["key"]), kept["key"])
    print(f"{args.name}: {found.trials} slices of {found.people} people")
    print(f"  right person named {found.attack.value:.3f}, by chance {found.control.value:.3f}")
    print(f"  risk {found.risk.value:.3f} ({found.risk.low:.3f} to {found.risk.high:.3f})")
    print(f"  EER {100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})")
    with no_start_meanwhile(folder):  # nor an audit that begins: what it takes away is not to be put back
        audit = read_audit(folder, commit)
        if not audit:
            print("the run has no audit to write it into; make it with `sottovoce audit`, and give this command again")
            return 0
        write_json(folder.places.audit, audit | {"others": audit.get("others", {}) | {args.name: as_result(found)}})
    print(f"written into {folder.places.audit}")
    return 0
