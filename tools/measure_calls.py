"""What cutting refuses of long recordings: several utterances of one speaker in a row, with their own text and with another's.

    python tools/measure_calls.py --input an4/manifest.jsonl [--in-a-row 3] [--calls 54] [--sides 2]

Beside it what aligning the whole at once refuses. `--sides 2`: calls of two speakers in two channels with one text of both, which
takes the recogniser.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.metrics.proportion import Share
from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
from sottovoce.models.speech.audio import Speech, load, resample
from sottovoce.models.speech.calls.cut import CallCutter, CallPart
from sottovoce.models.speech.recognise.recognisers import Moonshine
from sottovoce.pipelines.local.read_locally import read_utterances

RATE_HZ = 16_000
GAP_S = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", required=True)
    parser.add_argument("--in-a-row", type=int, default=3)
    parser.add_argument("--calls", type=int, default=54)
    parser.add_argument("--sides", type=int, default=1, choices=(1, 2))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    by_speaker = defaultdict(list)
    for record in read_utterances(args.input):
        by_speaker[record.speaker_id].append(record)
    names = sorted(name for name, records in by_speaker.items() if len(records) >= args.in_a_row)
    draw = random.Random(args.seed)
    cutter = make_cutter(recognise=args.sides > 1)
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(args.calls):
        speakers = [names[(number + side) % len(names)] for side in range(args.sides)]
        turns = [(side, record) for row in zip(*(draw.sample(by_speaker[name], args.in_a_row) for name in speakers), strict=True)
                 for side, record in enumerate(row)]  # fmt: skip
        others = draw.sample(by_speaker[names[(number + args.sides) % len(names)]], args.in_a_row) * args.sides
        channels = sound_of(turns, args.sides)
        right = " ".join(record.text for _, record in turns)
        note(counts, "right", cutter, channels, right)
        note(counts, "wrong", cutter, channels, " ".join(record.text for record in others))
        if args.sides == 1:
            counts["whole", "calls"] += 1
            counts["whole", "refused"] += refused_whole(cutter, channels[0], right)
    for kind in ("right", "wrong", "whole"):
        show(kind, counts)


def make_cutter(recognise: bool) -> CallCutter:
    judge, locate = (
        PocketSphinx(misfits="refuse"),
        PocketSphinx(floor=-1e6, word_floor=-1e6, pause_floor=-1e6, phone_floor=-1e6),
    )
    recogniser = Moonshine() if recognise else None
    for member in (judge, locate, recogniser):
        if member is not None:
            member.setup()
    return CallCutter(judge, locate, recogniser)


def sound_of(turns, sides: int) -> list[Speech]:
    parts: list[list[np.ndarray]] = [[] for _ in range(sides)]
    for side, record in turns:
        samples = resample(load(record.audio), RATE_HZ).samples
        samples = np.concatenate([samples, np.zeros(int(GAP_S * RATE_HZ) if sides > 1 else 0, np.float32)])
        for channel in range(sides):
            parts[channel].append(samples if channel == side else np.zeros_like(samples))
    noise = np.random.default_rng(0)
    whole = [np.concatenate(part) for part in parts]
    return [Speech((one + noise.normal(0, 3e-4, len(one))).astype(np.float32), RATE_HZ) for one in whole]


def note(counts, kind: str, cutter: CallCutter, channels: list[Speech], text: str) -> None:
    def read(channel: int, begin_s: float, end_s: float) -> Speech:
        return Speech(channels[channel].samples[int(begin_s * RATE_HZ) : int(end_s * RATE_HZ)], RATE_HZ)

    for part in cutter.cut(read, range(len(channels)), channels[0].duration_s, text):
        kept = isinstance(part, CallPart)
        counts[kind, "parts"] += 1
        counts[kind, "refused"] += not kept
        counts[kind, "ms"] += round(part.stretch.duration_s * 1000)
        counts[kind, "refused ms"] += 0 if kept else round(part.stretch.duration_s * 1000)


def refused_whole(cutter: CallCutter, speech: Speech, text: str) -> bool:
    try:
        cutter.judge.align(speech, text, None)
    except Refusal:
        return True
    return False


def show(kind: str, counts) -> None:
    total = counts[kind, "parts"] or counts[kind, "calls"]
    if total:
        share = f", {counts[kind, 'refused ms'] / counts[kind, 'ms']:.1%} of the speech" if counts[kind, "ms"] else ""
        print(f"{kind}: refused {Share(counts[kind, 'refused'], total)}{share}")


if __name__ == "__main__":
    main()
