"""What a recogniser of letters and digits is taught by: public speech of synthesisers first, then recordings of people.

    python tools/spelled_speech.py --spoken 1600 --out data/spelled
    python tools/spelled_speech.py --recordings an4/manifest.jsonl --out data/spelled
    python tools/spelled_speech.py --judge MODEL/model --out data/spelled

`public.jsonl`: letters, digits, numbers, months and commands in drawn orders, said by voices of flite and espeak-ng that are made
larger and smaller; they belong to nobody. `recordings.jsonl`: the rows of a manifest for `task: am`, shared out by speaker as
`cut_words.py` shares them out. --judge: letters and words that a model hears wrong in those to test on, with intervals by drawing
their speakers again.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
from cut_words import DIGITS, splits
from scipy.signal import resample
from speak_demo import RATE_HZ, Voice, speak

VOICES = [Voice("", "", "flite", name) for name in ("kal16", "awb", "rms", "slt")] + [
    Voice("", "", "espeak-ng", f"en-us{variant}") for variant in ("", "+m2", "+m4", "+m7", "+f2", "+f4")
]
TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
TEENS = ("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
COMMANDS = ["enter", "erase", "rubout", "repeat", "yes", "no", "stop", "help", "start", "go"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SAID = {"a": "ay"}  # alone, synthesisers take the letter for the article
LARGEST = 0.18  # a voice is made larger or smaller by at most this much


def texts(count: int, draw: random.Random) -> Iterator[str]:
    for _ in range(count):
        kind = draw.random()
        if kind < 0.4:
            words = draw.choices(LETTERS, k=draw.randint(1, 7))
        elif kind < 0.65:
            words = draw.choices([*DIGITS, "oh"], k=draw.randint(1, 7))
        elif kind < 0.75:
            words = draw.choices(LETTERS, k=draw.randint(1, 3)) + draw.choices(DIGITS, k=draw.randint(1, 4))
        elif kind < 0.9:
            words = [draw.choice([*DIGITS[1:], *TENS, *TEENS]) for _ in range(draw.randint(1, 5))]
        elif kind < 0.95:
            words = [draw.choice(MONTHS), draw.choice(ORDINALS), draw.choice(TEENS), draw.choice(TENS)]
        else:
            words = [draw.choice(COMMANDS)]
        if draw.random() < 0.15:
            words = [draw.choice(COMMANDS), *words]
        yield " ".join(words)


def spoken(text: str, draw: random.Random) -> np.ndarray:
    """One of the voices, of another size (all frequencies move), in another room."""
    said = speak(
        draw.choice(VOICES), " ".join(SAID.get(word, word.upper() if len(word) == 1 else word) for word in text.split())
    )
    said = resample(said, round(len(said) * (1 + draw.uniform(-LARGEST, LARGEST))))
    room = np.random.default_rng(draw.getrandbits(32)).standard_normal(len(said))
    room = np.convolve(room, [1.0, draw.uniform(-0.5, 0.9)])[: len(said)]
    return np.clip(said + room * np.sqrt(np.mean(said**2)) * 10 ** (draw.uniform(-45, -18) / 20), -1, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spoken", type=int, default=0, metavar="N")
    parser.add_argument("--recordings", type=Path, metavar="MANIFEST")
    parser.add_argument("--judge", metavar="MODEL")
    parser.add_argument("--split", default="test")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    (args.out / "public").mkdir(parents=True, exist_ok=True)
    if args.spoken:
        rows = []
        for number, text in enumerate(texts(args.spoken, draw)):
            path = (args.out / "public" / f"{number}.flac").resolve()
            soundfile.write(path, spoken(text, draw), RATE_HZ)
            rows.append({"audio": str(path), "text": text, "split": "dev" if number % 16 == 0 else "train"})
        write(args.out / "public.jsonl", rows)
    if args.judge:
        kept = [json.loads(line) for line in (args.out / "recordings.jsonl").read_text("utf-8").splitlines()]
        judge(args.judge, [row for row in kept if row["split"] == args.split])
    if args.recordings:
        given = [json.loads(line) for line in args.recordings.read_text("utf-8").splitlines()]
        split = splits(sorted({row["speaker_id"] for row in given}), args.seed)
        write(args.out / "recordings.jsonl", [
            {"audio": row["audio_filepath"], "text": row["text"].lower(), "speaker": row["speaker_id"],
             "split": split[row["speaker_id"]]}
            for row in given
        ])  # fmt: skip


def judge(model: str, rows: list[dict[str, str]]) -> None:
    from sottovoce.models.text.edit_distance import edit_distance
    from sottovoce.models.training.loop.export import load_trained

    answers = load_trained(model).answers(row["audio"] for row in rows)
    counts: dict[str, np.ndarray] = {}  # of a speaker: letters wrong, letters, words wrong, words
    for row, answer in zip(rows, answers, strict=True):
        said, heard = row["text"].split(), (answer["text"] or "").split()
        letters = [" ".join(words) for words in (said, heard)]
        found = [edit_distance(*letters), len(letters[0]), edit_distance(said, heard), len(said)]
        counts[row["speaker"]] = counts.get(row["speaker"], np.zeros(4)) + found
    each, draw = np.stack(list(counts.values())), np.random.default_rng(0)
    again = each[draw.integers(len(each), size=(2000, len(each)))].sum(1)
    for name, at in (("letters", 0), ("words", 2)):
        low, high = np.percentile(again[:, at] / again[:, at + 1], [2.5, 97.5])
        print(f"{name} wrong: {each[:, at].sum() / each[:, at + 1].sum():.3f} [{low:.3f}, {high:.3f}]")


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    print(f"{path.name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
