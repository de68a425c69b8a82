"""`sottovoce calls`: long and two-sided recordings become a corpus of utterances, by reference: no sound is copied."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.models.errors import Refusal, SettingsError, reason_of

if TYPE_CHECKING:  # --help must not wait for Beam
    from sottovoce.models.records import Utterance
    from sottovoce.models.speech.calls.cut import CallCutter, CallPart, RefusedPart

MANIFEST, REFUSED, FINISHED = "manifest.jsonl", "refused.jsonl", "finished.jsonl"
EXAMPLES = """\
  sottovoce calls --input calls/ --output cut                   # channels are speakers; call1.txt is the transcript of call1.wav
  sottovoce calls --input sides.jsonl --output cut              # a line for each channel, with its text and the key `channel`
  sottovoce calls --input meetings/ --output cut --speakers 2   # two people in one mixed channel
  sottovoce sanitize --input cut --output out --set audio.channel=split --set 'input.audio_roots=[calls]'
"""


# What is cut here is aligned once more by the run, which leaves out what does not fit; where the words of two neighbouring
# stretches part is told only by a judge that takes no misfit.
STRICT = "{use: pocketsphinx, misfits: refuse}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", required=True, metavar="CORPUS", help="recordings or a manifest: a record is a call")
    parser.add_argument(
        "--output", required=True, metavar="DIR", type=Path, help="local folder; holds the original words"
    )
    parser.add_argument("--align", default=STRICT, metavar="MEMBER", help="judges which words were said")
    parser.add_argument(
        "--recognise", default="moonshine", metavar="MEMBER", help="writes down and finds anchors; none (moonshine)"
    )
    parser.add_argument(
        "--speakers",
        type=int,
        default=1,
        metavar="N",
        help="people in a recording of one channel (1); more: told apart",
    )
    parser.add_argument("--encoder", default="campplus", metavar="MEMBER", help="tells them apart (campplus)")
    parser.add_argument("--max-seconds", type=float, default=15.0, metavar="S", help="of an utterance (15)")
    parser.add_argument(
        "--audio-root", action="append", default=[], metavar="FOLDER", help="recordings may lie here, too"
    )


def run(args: argparse.Namespace) -> int:
    if args.speakers < 1:
        raise SettingsError([f"--speakers {args.speakers}: must be at least 1"])
    if not 2 <= args.max_seconds <= 60:
        raise SettingsError([f"--max-seconds {args.max_seconds:g}: allowed are 2 to 60"])
    from sottovoce.models.corpus import Refused
    from sottovoce.pipelines.local.audio_arguments import audio_roots_of
    from sottovoce.pipelines.local.long_recording import LongRecording
    from sottovoce.pipelines.local.read_locally import read_utterances
    from sottovoce.transforms.read.corpus import OpenAudio

    cutter = _cutter(args)
    open_audio = OpenAudio(audio_roots_of(args.input, args))
    args.output.mkdir(parents=True, exist_ok=True, mode=0o700)
    counts, reasons, seconds = Counter[str](), Counter[str](), Counter[str]()
    with _Writer(args.output) as writer:
        for record in read_utterances(args.input):
            if isinstance(record, Refused):
                reasons[reason_of(record.error)[0]] += 1
                continue
            if writer.has(record):
                counts["before"] += 1
                continue
            try:
                recording = LongRecording(record.audio, open_audio)
                parts = _parts(cutter, record, recording, args.speakers)
            except Refusal as refusal:
                reasons[refusal.code] += 1
                writer.refuse_whole(record, refusal)
                continue
            counts["calls"] += 1
            _note(parts, counts, reasons, seconds)
            writer.write(record, parts, recording.channels)
            print(f"{counts['calls']} calls, {counts['parts']} utterances", flush=True)
    return _summary(args, counts, reasons, seconds)


def _cutter(args: argparse.Namespace) -> CallCutter:
    from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
    from sottovoce.models.speech.calls.cut import CallCutter
    from sottovoce.models.speech.recognise import Recogniser
    from sottovoce.pipelines.local.read_locally import read_member

    judge = read_member("align", "--align", args.align).make()
    locate = PocketSphinx(floor=-1e6, word_floor=-1e6, pause_floor=-1e6, phone_floor=-1e6)
    recogniser = None if args.recognise == "none" else read_member("relisten", "--recognise", args.recognise).make()
    if recogniser is not None and not isinstance(recogniser, Recogniser):
        raise SettingsError([f"--recognise {args.recognise}: writes nothing down; allowed: moonshine, vosk, hf, none"])
    encoder = read_member("speakers", "--encoder", args.encoder).make() if args.speakers > 1 else None
    made: tuple[Any, ...] = (judge, locate, recogniser, encoder)
    for member in made:
        if member is not None:
            member.setup()
    return CallCutter(judge, locate, recogniser, encoder, args.speakers, args.max_seconds)


def _parts(cutter: CallCutter, record: Utterance, recording: Any, speakers: int) -> list[CallPart | RefusedPart]:
    channels = recording.speaking(record.audio.channel if record.audio else None)
    mixed = len(channels) == 1 and speakers > 1
    cutter = dataclasses.replace(cutter, language=record.language)
    return list(cutter.cut(recording.read, channels, recording.duration_s, record.text, mixed))


def _note(parts: list[Any], counts: Counter[str], reasons: Counter[str], seconds: Counter[str]) -> None:
    from sottovoce.models.speech.calls.cut import RefusedPart

    for part in parts:
        refused = isinstance(part, RefusedPart)
        counts["refused" if refused else "parts"] += 1
        seconds["refused" if refused else "parts"] += part.stretch.duration_s
        if refused:
            reasons[part.refusal.code] += 1


def _summary(args: argparse.Namespace, counts: Counter, reasons: Counter, seconds: Counter) -> int:
    total = max(seconds["parts"] + seconds["refused"], 1e-9)
    print(
        f"{counts['calls']} calls: {counts['parts']} utterances, {seconds['parts'] / 60:.1f} min; refused {counts['refused']} "
        f"({seconds['refused'] / total:.1%} of the speech); {counts['before']} calls were finished before"
    )
    for reason, count in reasons.most_common():
        print(f"  refused {count:>7,}  {reason}")
    if counts["parts"] or counts["before"]:
        roots = ", ".join(os.path.abspath(root) for root in (args.input, *args.audio_root) if os.path.isdir(root))
        roots = roots or os.path.dirname(os.path.abspath(args.input))
        more = ["--set", "audio.channel=split", "--set", f"input.audio_roots=[{roots}]"]
        print("these files hold the original words, keep them like the corpus. Next:")
        print(
            "  "
            + shlex.join(["sottovoce", "sanitize", "--input", str(args.output / MANIFEST), "--output", "OUT", *more])
        )
        return 0
    return 1


class _Writer:
    """A call is written whole or not at all: what a killed process left unfinished is cut anew."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._finished: set[tuple[str, str]] = set()

    def __enter__(self) -> _Writer:
        finished = self._folder / FINISHED
        lines = finished.read_text().splitlines() if finished.exists() else []
        self._finished = {tuple(json.loads(line)) for line in lines if line.endswith("]")}
        self._drop_unfinished()
        self._files = {name: _appended(self._folder / name) for name in (MANIFEST, REFUSED, FINISHED)}
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def _drop_unfinished(self) -> None:
        for name in (MANIFEST, REFUSED):
            path = self._folder / name
            if path.exists():
                kept = [line for line in path.read_text().splitlines() if self._is_finished(line)]
                path.write_text("".join(f"{line}\n" for line in kept))

    def _is_finished(self, line: str) -> bool:
        try:
            row = json.loads(line)
        except ValueError:
            return False
        return (row["dialogue_id"], row["call"]) in self._finished

    def has(self, record: Utterance) -> bool:
        return (record.dialogue_id, record.id) in self._finished

    def write(self, record: Utterance, parts: list[Any], channels: int) -> None:
        from sottovoce.models.speech.calls.cut import CallPart

        for part in parts:
            stretch = part.stretch
            where = {"offset": round(stretch.begin_s, 2), "duration": round(stretch.duration_s, 2)}
            if channels > 1:
                where["channel"] = stretch.channel
            base = {"dialogue_id": record.dialogue_id, "call": record.id, **where}
            if isinstance(part, CallPart):
                # Turns in the order of time, whichever channel: hundredths of a second since the call began.
                name = f"{record.id}/{stretch.channel}/{round(stretch.begin_s * 100)}"
                speaker = record.speaker_id if _alone(record, parts) else f"{record.dialogue_id}/{part.speaker}"
                row = {"id": name, "turn": round(stretch.begin_s * 100), "speaker_id": speaker, "text": part.text}
                row |= {"audio_filepath": record.audio.uri, "language": record.language}  # type: ignore[union-attr]
                self._put(MANIFEST, base | {key: value for key, value in row.items() if value is not None})
            else:
                self._put(REFUSED, base | {"reason": part.refusal.code})
        self._finish(record)

    def refuse_whole(self, record: Utterance, refusal: Refusal) -> None:
        self._put(REFUSED, {"dialogue_id": record.dialogue_id, "call": record.id, "reason": refusal.code})
        self._finish(record)

    def _finish(self, record: Utterance) -> None:
        self._files[MANIFEST].flush()
        self._files[REFUSED].flush()
        self._put(FINISHED, [record.dialogue_id, record.id])
        self._files[FINISHED].flush()

    def _put(self, name: str, row: Any) -> None:
        self._files[name].write(json.dumps(row, ensure_ascii=False) + "\n")


def _appended(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8")


def _alone(record: Utterance, parts: list[Any]) -> bool:
    """Whether the speaker that the record names can be the speaker of all its parts."""
    from sottovoce.models.speech.calls.cut import CallPart

    return record.speaker_id is not None and len({part.speaker for part in parts if isinstance(part, CallPart)}) <= 1
