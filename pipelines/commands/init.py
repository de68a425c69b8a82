"""`sottovoce init`: look at a corpus, say what is in it and what is missing, and propose a job."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml

from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.pipelines.local.numbers import at_least_one

if TYPE_CHECKING:  # --help must not wait for Beam
    from sottovoce.models.corpus import Refused
    from sottovoce.models.records import Utterance

SHOWN_KEYS = 12
EXAMPLES = """\
  sottovoce init --input corpus/manifest.jsonl
  sottovoce init --input kaldi/data/train --config night.yaml --secret-file night.secret
  sottovoce init --input calls.csv --set 'input.columns={text: what was said, speaker_id: caller}'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", required=True, metavar="CORPUS", help="manifest, folder or URI of the corpus")
    parser.add_argument("--config", type=Path, default=Path("job.yaml"), metavar="FILE", help="job to write (job.yaml)")
    parser.add_argument(
        "--secret-file", type=Path, default=Path("secret"), metavar="F", help="secret to make, readable by you (secret)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="input.KEY=VALUE", help="how to read it; goes into the job, too"
    )
    parser.add_argument("--limit", type=at_least_one, default=10_000, metavar="N", help="records to look at (10000)")


@dataclass
class CorpusLook:
    """Counts of what was looked at: nothing of a record's content but names of languages, intents and slots."""

    records: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    dialogues: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)
    languages: Counter[str] = field(default_factory=Counter)
    with_audio: int = 0
    claimed_s: float = 0.0
    with_intent: int = 0
    slots: Counter[str] = field(default_factory=Counter)
    more: bool = False  # the corpus goes on


def run(args: argparse.Namespace) -> int:
    from itertools import islice

    from sottovoce.models.corpus.names import Naming
    from sottovoce.pipelines.local.read_locally import utterances_of
    from sottovoce.transforms.read.corpus import open_corpus

    for path, flag in ((args.config, "--config"), (args.secret_file, "--secret-file")):
        if path.exists():
            raise SettingsError([f"{flag} {path}: is there already; name another, or remove it"])
    reading = _how_to_read(args.set)
    naming = Naming(reading.get("columns", {}))
    corpus = open_corpus(args.input, reading.get("format", "auto"), naming)
    found = look_at(islice(utterances_of(corpus, naming), args.limit + 1), args.limit)
    if not found.records:
        reasons = ", ".join(f"{count} x {reason}" for reason, count in found.refused.items())
        raise CorpusError(f"{args.input}: no record can be read{f' ({reasons})' if reasons else ''}; see docs/input.md")
    for line in (*told(found), *unread(corpus.unread), *(f"missing   {line}" for line in missing(found))):
        print(line)
    _write(args.secret_file, os.urandom(32), 0o600)
    _write(args.config, job_of(found, reading).encode(), 0o644)
    print(f"wrote     {args.config}, and {args.secret_file}: keep it, and keep it to yourself")
    print(
        f"next      sottovoce sanitize --input {args.input} --output out --config {args.config} "
        f"--secret-file {args.secret_file} --dry-run"
    )
    return 0


def _how_to_read(assignments: Sequence[str]) -> dict[str, Any]:
    """What was set of `input`, checked as a job would check it."""
    from sottovoce.pipelines.sanitize.job_file import read_job

    if others := [text for text in assignments if not text.startswith("input.")]:
        raise SettingsError([f"--set {text}: init takes keys of input only" for text in others])
    if not assignments:
        return {}
    plain, chosen = (read_job(None, given).resolved["input"] for given in ((), assignments))
    return {key: value for key, value in chosen.items() if value != plain[key]}


def look_at(records: Iterable[Utterance | Refused], limit: int) -> CorpusLook:
    """Count the first `limit` records, refused ones by reason; `more` tells that there are others behind them."""
    from sottovoce.models.errors import reason_of
    from sottovoce.models.records import Utterance

    found = CorpusLook()
    for number, record in enumerate(records):
        if number == limit:
            found.more = True
            break
        if not isinstance(record, Utterance):
            found.refused[reason_of(record.error)[0]] += 1
            continue
        found.records += 1
        found.dialogues.add(record.dialogue_id)
        found.languages[record.language or "not given"] += 1
        found.with_intent += record.intent is not None
        found.slots.update(slot.name for slot in record.slots)
        if record.speaker_id is not None:
            found.speakers.add(record.speaker_id)
        if record.audio is not None:
            found.with_audio += 1
            found.claimed_s += record.audio.duration_s or 0.0
    return found


def told(found: CorpusLook) -> list[str]:
    """Lines for the terminal, one for each kind of figure; needs at least one record that could be read."""

    def names(counts: Counter[str]) -> str:
        return ", ".join(f"{name} ({count})" for name, count in counts.most_common(8))

    hours = f", {found.claimed_s / 3600:.1f} hours as the manifest says" if found.claimed_s else ""
    return [
        f"records   {found.records}{' of the first ones; the corpus goes on' if found.more else ''}",
        *([f"refused   {names(found.refused)}"] if found.refused else []),
        f"dialogues {len(found.dialogues)}, {found.records / len(found.dialogues):.1f} turns each",
        f"speakers  {len(found.speakers) or 'none named'}",
        f"languages {names(found.languages)}",
        f"audio     {found.with_audio} recordings{hours}",
        f"labels    {found.with_intent} intents; slots: {names(found.slots) or 'none'}",
    ]


def unread(keys: Sequence[str]) -> list[str]:
    """Columns that are left alone, by name: one of them may be what a key of ours is called here."""
    keys = [key for key in keys if key.isprintable()]
    more = f" and {len(keys) - SHOWN_KEYS} more" if len(keys) > SHOWN_KEYS else ""
    shown = f"{', '.join(keys[:SHOWN_KEYS])}{more}"
    return (
        [f"not read  {shown} (to read one: --set 'input.columns={{OUR KEY: ITS NAME}}', docs/input.md)"] if keys else []
    )


def missing(found: CorpusLook) -> list[str]:
    """What the corpus does not say, a line each, with what that costs and the field that would say it."""
    lines = []
    if len(found.dialogues) == found.records > 1:
        lines.append(
            "dialogues: every record is one of its own, so that turns of one talk may reach two sinks (dialogue_id)"
        )
    if not found.speakers:
        lines.append("speakers: nobody can be forgotten or charged by name (speaker_id)")
    if set(found.languages) == {"not given"}:
        lines.append("languages: none is given (language)")
    if 0 < found.with_audio < found.records:
        lines.append(f"audio: {found.records - found.with_audio} records have none, and are refused by speech sinks")
    return lines


def job_of(found: CorpusLook, reading: Mapping[str, Any] = MappingProxyType({})) -> str:
    """YAML with its reasons. Only what differs from the defaults, or should be decided."""
    wanted = {
        "stt_am": (found.with_audio > 0, "speech slices for the acoustic model"),
        "stt_lm": (True, "lines for the language model"),
        "slu": (found.with_intent > 0 or bool(found.slots), "text, intent, slots"),
        "dm": (len(found.dialogues) < found.records, "whole dialogues"),
    }
    named = [name for name, (holds, _) in wanted.items() if holds]
    share = round(1 / len(named), 4)
    lines = ["# Made by `sottovoce init`; pipelines/sanitize/default_job.yaml lists every key.", "sinks:"]
    lines += [f"  {name + ':':<7} {share:<11} # {wanted[name][1]}" for name in named]
    lines += [
        'replace: typed        # [PER] and so on; `full` draws other values: sottovoce try "a sentence" shows both',
        "limits:",
        "  max_failures: 0.1   # more refused records than this share commit nothing",
    ]
    if found.slots:
        lines += [
            "detect:               # slots whose values are somebody's are covered whatever the detector finds; add your own",
            f"  sensitive_slots: [default]   # of: {', '.join(sorted(found.slots)[:12])}",
        ]
    if reading:
        lines.append(yaml.safe_dump({"input": dict(reading)}, allow_unicode=True, sort_keys=False).rstrip())
    return "\n".join(lines) + "\n"


def _write(path: Path, content: bytes, mode: int) -> None:
    try:
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
            file.write(content)
    except OSError as error:
        raise SettingsError([f"{path}: cannot be written ({error.strerror})"]) from None
