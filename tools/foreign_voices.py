"""How well a voice is understood in another language: `python tools/foreign_voices.py MANIFEST --voice phonetic frame_knn`.

The manifest is of `tools/espeak_speech.py`. Whisper writes down each recording before and after; the words that it gets wrong are
counted on the same recordings, those that alignment did not refuse. Synthetic speakers and one recogniser: a rough figure.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.metrics.word_errors import WordErrors, word_errors
from sottovoce.models.randomness import Secret
from sottovoce.models.records import AudioRef, Source, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.speech import chain
from sottovoce.models.speech.audio import load
from sottovoce.models.speech.spoken import Spoken

BEFORE, DRAWS = "as it was said", 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--voice", nargs="+", default=["phonetic"], help="names, or {use: name, ...}")
    parser.add_argument("--limit", type=int, default=20)
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.manifest.read_text("utf-8").splitlines()][: args.limit]
    language = rows[0]["language"]
    voices = {name: made("voice", name) for name in args.voice}
    aligner = made("align", "{use: whisper, phones: true}")
    listener = made("relisten", f"{{use: whisper, language: {language}}}")
    found, refused = defaultdict(list), 0
    for number, row in enumerate(rows):
        utterance = Utterance(str(number), str(number), 0, row["text"], Source("", 0), language=language)
        try:
            spoken = chain.aligned(aligner, Spoken(utterance, load(AudioRef(row["audio_filepath"]))))
            said = {name: chain.voiced(voice, spoken, Secret(bytes(32))) for name, voice in voices.items()}
        except Refusal:
            refused += 1
            continue
        for name, one in {BEFORE: spoken, **said}.items():
            found[name].append(word_errors(row["text"], listener.transcribe(one.speech), language))
    print(f"{language}: {len(rows)} recordings, {refused} refused")
    for name, errors in found.items():
        low, high = interval(errors)
        total = sum(errors, WordErrors(0, 0))
        print(f"{name}: {100 * total.rate:.1f} % of {total.words} words wrong ({100 * low:.1f} to {100 * high:.1f})")


def made(family: str, member: str) -> Any:
    one = read_spec(family, yaml.safe_load(member)).make()
    one.setup()
    return one


def interval(errors: list[WordErrors]) -> tuple[float, float]:
    """Of the rate, 95 %, by recordings drawn anew."""
    counts = np.array([(one.errors, one.words) for one in errors])
    drawn = counts[np.random.default_rng(0).integers(len(counts), size=(DRAWS, len(counts)))].sum(1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()
