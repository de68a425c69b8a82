"""An hour of a call, really cut: recorded utterances take turns on two channels at 8 kHz mu-law, a transcript for each side.

    python tools/hour_of_calls.py --input an4.jsonl librivox.jsonl [--minutes 60] [--wrong] [--keep FOLDER]

Prints what `sottovoce calls` refuses of it, its time, its processor time and its peak memory, and of what it keeps how many parts
hold other words than were said there. `--wrong`: each side has the other side's transcript, so that all must be refused.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from sottovoce.models.evaluation.metrics.proportion import Share
from sottovoce.models.records import Utterance
from sottovoce.models.speech.audio import load, resample
from sottovoce.pipelines.local.read_locally import read_utterances

RATE_HZ = 8_000
NOISE = 3e-4  # of a quiet line


@dataclass(frozen=True)
class Said:
    side: int
    begin_s: float
    end_s: float
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", required=True, nargs="+")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--wrong", action="store_true", help="each side under the other's transcript")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        records = [one for path in args.input for one in read_utterances(path) if isinstance(one, Utterance)]
        said = make_call(folder, records, args.minutes, args.wrong)
        command = [sys.executable, "-m", "sottovoce.pipelines.cli", "calls"]
        began = time.monotonic()
        subprocess.run([*command, "--input", folder / "calls.jsonl", "--output", folder / "cut"], check=not args.wrong)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{time.monotonic() - began:.0f} s by the clock, {used.ru_utime + used.ru_stime:.0f} s of processor time, ",
            end="",
        )
        print(f"{used.ru_maxrss / 1024:.0f} MB at most")
        score(folder / "cut", said)


def score(cut: Path, said: list[Said]) -> None:
    kept, refused = (
        [json.loads(line) for line in (cut / name).read_text().splitlines()]
        for name in ("manifest.jsonl", "refused.jsonl")
    )
    foreign = sum(not is_said(part, said) for part in kept)
    words = sum(len(one.text.split()) for one in said)
    print(f"refused {Share(len(refused), len(kept) + len(refused))} of the parts")
    print(f"kept with words that are not of the utterances there: {Share(foreign, len(kept))}")
    print(f"words kept: {Share(sum(len(part['text'].split()) for part in kept), words)}")


def is_said(part: dict[str, Any], said: list[Said]) -> bool:
    """Its words stand in a row in what was said on its channel in its time."""
    begin_s, end_s = part["offset"], part["offset"] + part["duration"]
    there = [one.text for one in said if one.side == part["channel"] and one.begin_s < end_s and begin_s < one.end_s]
    return f" {part['text']} " in f" {' '.join(there)} "


def make_call(folder: Path, records: list[Utterance], minutes: float, wrong: bool) -> list[Said]:
    """`call.wav` and `calls.jsonl`; pauses as long as it takes to fill the time."""
    draw = random.Random(0)
    turns = in_turns(records, draw)
    sounds = [resample(load(record.audio), RATE_HZ).samples for _, record in turns]
    pause = max(0.3 * RATE_HZ, (60 * minutes * RATE_HZ - sum(map(len, sounds))) / len(turns))
    begins, at = [], 0
    for sound in sounds:
        at += round(pause * draw.uniform(0.5, 1.5))
        begins.append(at)
        at += len(sound)
    call = np.random.default_rng(0).normal(0, NOISE, (at + RATE_HZ, 2)).astype(np.float32)
    for (side, _), sound, begin in zip(turns, sounds, begins, strict=True):
        call[begin : begin + len(sound), side] += sound
    soundfile.write(folder / "call.wav", call, RATE_HZ, subtype="ULAW")
    with (folder / "calls.jsonl").open("w") as file:
        for side in (0, 1):
            text = " ".join(record.text for own, record in turns if (own == side) != wrong)
            row = {
                "id": f"side {side}",
                "dialogue_id": "call",
                "audio_filepath": "call.wav",
                "channel": side,
                "text": text,
            }
            file.write(json.dumps(row) + "\n")
    print(
        f"{len(turns)} utterances, {sum(map(len, sounds)) / RATE_HZ / 60:.1f} min of speech in {len(call) / RATE_HZ / 60:.1f}"
    )
    return [
        Said(side, begin / RATE_HZ, (begin + len(sound)) / RATE_HZ, record.text)
        for (side, record), sound, begin in zip(turns, sounds, begins, strict=True)
    ]


def in_turns(records: list[Utterance], draw: random.Random) -> list[tuple[int, Utterance]]:
    """Half of the speakers on each side, one to three utterances at a time."""
    speakers = sorted({record.speaker_id or "" for record in records})
    draw.shuffle(speakers)
    side_of = {name: number % 2 for number, name in enumerate(speakers)}
    waiting = [[one for one in records if side_of[one.speaker_id or ""] == side] for side in (0, 1)]
    turns = []
    while any(waiting):
        for side in (0, 1):
            taken = draw.randint(1, 3)
            turns += [(side, record) for record in waiting[side][:taken]]
            waiting[side] = waiting[side][taken:]
    return turns


if __name__ == "__main__":
    main()
