"""`sottovoce challenge`: files with which outsiders attack the voices of a run, without the answers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sottovoce.models.errors import RunError, SettingsError

EXAMPLES = """\
  sottovoce challenge --run out/run-0123456789ab --input corpus --out challenge
  sottovoce challenge score --run out/run-0123456789ab --scores theirs.txt --name team_a

DIR gets enrolment, trials and training data in the layout of the VoicePrivacy challenges. Enrolment holds original voices: give
it to whoever may hear them. The key stays in OUT/private/runs/RUN/challenge.json.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, metavar="OUT/ID", help="the committed run")
    parser.add_argument("--input", required=True, metavar="CORPUS", help="the corpus that the run was made of")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a folder that is not there yet")
    parser.add_argument("--secret-file", metavar="F", help="the secret of the run; needed unless OUT keeps its own")
    parser.add_argument("--config", metavar="JOB.yaml", help="the job (default: the run's own)")


def run(args: argparse.Namespace) -> int:
    if args.out.exists():
        raise SettingsError([f"--out {args.out}: is there already; expected a new folder"])
    from sottovoce.pipelines.local.beam_alone import import_beam_alone

    import_beam_alone("direct", args.config, sys.argv)

    from sottovoce.pipelines.audit.audit_run import job_of_run
    from sottovoce.pipelines.audit.challenge import write_challenge
    from sottovoce.pipelines.audit.originals import originals_of
    from sottovoce.pipelines.audit.released import sample_of
    from sottovoce.pipelines.audit.voices import people_of
    from sottovoce.pipelines.local.read_locally import read_utterances
    from sottovoce.pipelines.sanitize.one_secret import secret_for
    from sottovoce.pipelines.sanitize.run_files import open_committed
    from sottovoce.pipelines.sanitize.run_folder import open_run, write_json
    from sottovoce.transforms.read.corpus import open_corpus
    from sottovoce.transforms.speech.stages import LoadAudio

    folder = open_run(args.run)
    job, committed = job_of_run(folder.uri, args.config, []), open_committed(folder.uri)
    committed.verify()
    secret, reading = secret_for(folder.places.output.uri, args.secret_file), job.sections["input"]
    sample = sample_of(folder, committed, None)
    if sample is None:
        raise RunError(f"{folder.uri}: keeps no index (forget: off): which slice is whose is not known")
    found = read_utterances(args.input, reading.format, reading.naming)
    originals, _ = originals_of(found, secret, sample.people)
    roots = open_corpus(args.input, reading.format, reading.naming).audio_roots(reading.audio_roots)
    people = people_of(sample, originals, secret)
    key = write_challenge(people, LoadAudio(roots, job.sections["audio"]), secret, committed.run_id, args.out)
    write_json(folder.places.challenge, {"commit": committed.digest, "key": key})
    print(
        f"{len(set(key.values()))} people and {len(key)} slices to try in {args.out}; the key: {folder.places.challenge}"
    )
    return 0
