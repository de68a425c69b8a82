"""How exactly an aligner finds words, and which texts it refuses: `python tools/measure_borders.py MANIFEST --aligner whisper`.

The manifest has the true times of its words (`tools/espeak_speech.py`). Each recording is aligned with its own text, with the
text of another recording, and with its own in which one word is exchanged for a word of another.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sottovoce.models.errors import Refusal
from sottovoce.models.records import AudioRef
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import load
from sottovoce.models.text.detect.coverage import wilson


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--aligner", default="whisper")
    parser.add_argument("--limit", type=int, default=60)
    args = parser.parse_args()
    aligner: Any = read_spec("align", yaml.safe_load(args.aligner)).make()
    aligner.setup()
    rows = [json.loads(line) for line in args.manifest.read_text("utf-8").splitlines()][: args.limit]
    draw = np.random.default_rng(7)
    errors: list[tuple[float, float, float, float]] = []
    refused: dict[str, list[bool]] = {"own text": [], "another's text": [], "one word exchanged": []}
    for number, row in enumerate(rows):
        speech = load(AudioRef(row["audio_filepath"]))
        other = rows[(number + 7) % len(rows)]["text"]
        for name, text in zip(refused, (row["text"], other, exchanged(row["text"], other, draw)), strict=True):
            try:
                words = aligner.align(speech, text, row["language"])
            except Refusal:
                refused[name].append(True)
                continue
            refused[name].append(False)
            if name == "own text":
                errors += borders(words, row["words"])
    print(f"{args.aligner}, {len(rows)} recordings, {rows[0]['language']}")
    for at, name in ((0, "begin"), (1, "end")):
        late = 1000 * np.array([error[at] for error in errors])
        wrong = np.abs(late)
        print(
            f"{name}: median {np.median(wrong):.0f} ms, mean {wrong.mean():.0f}, "
            f"nine in ten below {np.quantile(wrong, 0.9):.0f}, "
            f"too late by {np.median(late):.0f} ({len(wrong)} words)"
        )
    inside = np.clip([error[2] for error in errors], 0, 1)
    print(
        f"of a word's time {100 * inside.mean():.1f} % inside its borders; wholly inside {100 * (inside > 0.999).mean():.1f} %"
    )
    for name, found in refused.items():
        low, high = wilson(sum(found), len(found))
        print(
            f"{name}: {sum(found)} of {len(found)} refused, {100 * np.mean(found):.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        )


def exchanged(text: str, other: str, draw: np.random.Generator) -> str:
    words, foreign = text.split(), [word for word in other.split() if len(word) > 3 and word not in text]
    places = [at for at, word in enumerate(words) if len(word) > 3]
    if places and foreign:
        words[places[int(draw.integers(len(places)))]] = foreign[int(draw.integers(len(foreign)))]
    return " ".join(words)


def borders(words: Any, truth: list[list[float]]) -> list[tuple[float, float, float, float]]:
    """(begin too late, end too late, share of the true time that is covered, its length), seconds, of words with a truth."""
    known = {int(row[0]): (row[2], row[3]) for row in truth}
    out = []
    for word in words:
        if word.begin in known:
            begin, end = known[word.begin]
            shared = min(end, word.end_s) - max(begin, word.begin_s)
            out.append((word.begin_s - begin, word.end_s - end, shared / max(end - begin, 1e-3), end - begin))
    return out


if __name__ == "__main__":
    main()
