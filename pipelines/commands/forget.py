"""`sottovoce forget`: a person asks to be forgotten, and is."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from sottovoce.models.errors import RunError, SettingsError

EXAMPLES = """\
  sottovoce forget --output out --speaker anna --secret-file secret
  sottovoce forget --output out --speakers-file asked_to_be_forgotten.txt
  sottovoce forget --output out --dialogue 2024-05-01/17 --dialogue 2024-05-02/3
  sottovoce forget --output gs://bucket/out --speakers-file names.txt --secret-file secret --json

Takes their records out of every run of OUT, as if they had never been read, and keeps them out of later runs. A file has
one id on each line, and does not show in the process list. If it is killed, the same command completes it. Exit codes:
  0   done, or nothing was found
  1   failed; nothing was changed, unless the error says that the same command completes it
  2   the settings are wrong
  3   done, but some runs could not be searched: they may still hold their records, and it says why
"""

EXIT_NOT_SEARCHED = 3
LONGEST_ID = 512  # as in a corpus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, metavar="OUT", help="folder or URI that the runs are in")
    parser.add_argument("--speaker", action="append", default=[], metavar="ID", help="a speaker_id of the corpus")
    parser.add_argument("--speakers-file", action="append", default=[], metavar="F", help="many, one on each line")
    parser.add_argument("--dialogue", action="append", default=[], metavar="ID", help="a dialogue_id, whoever speaks")
    parser.add_argument("--dialogues-file", action="append", default=[], metavar="F", help="many, one on each line")
    parser.add_argument("--secret-file", metavar="F", help="the secret of the runs; needed unless OUT keeps its own")
    parser.add_argument("--json", action="store_true", help="print the receipt")


def run(args: argparse.Namespace) -> int:
    speakers = [*args.speaker, *_ids_in(args.speakers_file, "--speakers-file")]
    dialogues = [*args.dialogue, *_ids_in(args.dialogues_file, "--dialogues-file")]
    _check(args, speakers, dialogues)

    from sottovoce.models.forget.whose import Forgotten
    from sottovoce.pipelines.forget.forget import forget
    from sottovoce.pipelines.nightly.finished_runs import finished_runs
    from sottovoce.pipelines.sanitize.one_secret import knows_secret, secret_for, secrets_used
    from sottovoce.pipelines.sanitize.one_writer import one_writer

    if not finished_runs(args.output) and "://" not in args.output and not Path(args.output).is_dir():
        raise RunError(f"{args.output}: not there; expected the folder that the runs are in")
    secret = secret_for(args.output, args.secret_file)
    if not knows_secret(args.output, secret):
        raise RunError(f"no run in {args.output} was made with this secret; nothing was done. Give the one of its runs")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with one_writer(args.output, "forget") as lock:
        whom = Forgotten.of(secret, speakers, dialogues)
        receipt, place = forget(args.output, secret, whom, lock.completed)
    print(json.dumps(receipt, indent=2) if args.json else "\n".join(_lines(receipt, place)))
    if (secrets := secrets_used(args.output)) > 1:
        print(
            f"this output was written with {secrets} secrets: give the same command with each of them", file=sys.stderr
        )
    return EXIT_NOT_SEARCHED if receipt["runs_not_searched"] else 0


def _ids_in(paths: list[str], flag: str) -> list[str]:
    found = []
    for path in paths:
        try:
            lines = Path(path).read_bytes().split(b"\n")
        except OSError as error:
            raise SettingsError(
                [f"{flag} {path}: {error.strerror}; expected a file with one id on each line"]
            ) from None
        for number, line in enumerate(lines, 1):
            try:
                name = line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise SettingsError([f"{flag} {path}, line {number}: not UTF-8"]) from None
            if len(name) > LONGEST_ID:
                raise SettingsError([f"{flag} {path}, line {number}: longer than the {LONGEST_ID} characters of an id"])
            found += [name] if name.strip() else []
    return found


def _check(args: argparse.Namespace, speakers: list[str], dialogues: list[str]) -> None:
    given = {"--speaker": args.speaker, "--dialogue": args.dialogue}
    problems = [f"{flag}: an id is empty" for flag, names in given.items() if any(not name for name in names)]
    if not speakers and not dialogues:
        problems.append("nobody to forget: give --speaker, --speakers-file, --dialogue or --dialogues-file")
    if problems:
        raise SettingsError(problems)


def _lines(receipt: dict[str, Any], place: str) -> list[str]:
    records: Counter[str] = Counter()
    for run in receipt["runs"]:
        records.update(run["records"])
    refused = sum(run["failures"] for run in receipt["runs"])
    if not receipt["runs"]:
        where = " where it could be looked for" if receipt["runs_not_searched"] else ""
        lines = [f"nothing was found{where}; a mark keeps whoever it is out of later runs"]
    else:
        parts = [f"{count} {sink}" for sink, count in sorted(records.items())] + [f"{refused} refused"] * bool(refused)
        lines = [f"{receipt['utterances']} utterances are gone from {len(receipt['runs'])} runs"]
        lines += [f"  records          {', '.join(parts)}"] * bool(parts)
    lines.append(f"  receipt          {place}")
    for run in receipt["models_to_train_anew"]:
        lines.append(f"  train anew       {run}: its model has seen what is gone (start-training --retry)")
    for run, reason in receipt["runs_not_searched"].items():
        lines.append(f"  NOT SEARCHED     {run}: {reason}; it may still hold their records")
    lines.append("not undone: copies and models that were handed on before, and lists counted in the corpus")
    return lines
