"""Single spoken digits and letters, cut out of recordings with transcripts: what `evaluate norms` learns to tell apart.

    python tools/cut_words.py an4/manifest.jsonl --out data/words

Words are found by the aligner; recordings that it refuses are left out. By speaker, drawn by `--seed`: a tenth are public, a
tenth are there to choose settings by (dev), two tenths are tested on, the others trained on; `public.jsonl` and
`words.jsonl` list them. `text` is one sign: a figure for a digit, the letter for a letter.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
from collections import Counter
from pathlib import Path

import soundfile

from sottovoce.models.errors import Refusal
from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
from sottovoce.models.speech.audio import load, resample
from sottovoce.pipelines.local.read_locally import read_utterances

RATE_HZ, SHORTEST_S = 16_000, 0.12
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SIGNS = {word: str(number) for number, word in enumerate(DIGITS)} | {
    letter: letter for letter in map(chr, range(97, 123))
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    aligner, counts = PocketSphinx(), Counter[str]()
    aligner.setup()
    records = list(read_utterances(args.manifest))
    split = splits(sorted({record.speaker_id for record in records}), args.seed)
    (args.out / "audio").mkdir(parents=True, exist_ok=True)
    names = {part: "public.jsonl" if part == "public" else "words.jsonl" for part in split.values()}
    with contextlib.ExitStack() as opened:
        files = {
            name: opened.enter_context((args.out / name).open("w", encoding="utf-8")) for name in set(names.values())
        }
        for record in records:
            speech = resample(load(record.audio), RATE_HZ)
            try:
                words = aligner.align(speech, record.text)
            except Refusal:
                counts["recordings refused"] += 1
                continue
            for number, word in enumerate(words):
                sign = SIGNS.get(record.text[word.begin : word.end].lower())
                if sign is None or word.misfit or word.end_s - word.begin_s < SHORTEST_S:
                    continue
                name = f"audio/{record.id}-{number}.flac"
                piece = speech.samples[int(word.begin_s * RATE_HZ) : int(word.end_s * RATE_HZ)]
                soundfile.write(args.out / name, piece, RATE_HZ)
                part = split[record.speaker_id]
                row = {"audio": name, "text": sign, "speaker": record.speaker_id, "split": part}
                print(json.dumps(row), file=files[names[part]])
                counts[part] += 1
    print(", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())))


def splits(speakers: list[str], seed: int) -> dict[str, str]:
    random.Random(seed).shuffle(speakers)
    tenth = len(speakers) // 10
    parts = ["public"] * tenth + ["dev"] * tenth + ["test"] * (2 * tenth)
    return {name: parts[at] if at < len(parts) else "train" for at, name in enumerate(speakers)}


if __name__ == "__main__":
    main()
