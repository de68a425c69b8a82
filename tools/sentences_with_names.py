"""Sentences with names, spoken by flite and espeak-ng, for `evaluate acoustic`: to measure what masks cost.

    python tools/sentences_with_names.py --each 30 --out names

Every name, place and number is a slot, so that whoever masks needs no detector. Speakers are synthetic voices: what is learnt
from them says how masks compare, not how well anybody is heard.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from sottovoce.models.evaluation.known_answers.sentences import WORDS, sentences
from sottovoce.models.evaluation.known_answers.word_times import FLITE_VOICES, flite_speech, speak_espeak
from sottovoce.models.speech.audio import Speech, resample, to_flac

ESPEAK_VOICES = ("en-us+m3", "en-us+f2", "en-gb+m1", "en-gb+f4", "en-us+m7", "en-gb+f3")
NOISE_DB = -30
SLOTS = {w: "phone_number" for w in WORDS["{digits}"].split()} | {w: "city" for w in WORDS["{place}"].split()}


def main() -> None:
    parser = argparse.ArgumentParser(description="sentences with names, as speech")
    parser.add_argument("--each", type=int, default=30, help="sentences of each voice (default 30)")
    parser.add_argument(
        "--espeak", action="store_true", help="voices of espeak-ng too: the default aligner refuses most"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args()
    voices = [*FLITE_VOICES, *(ESPEAK_VOICES if args.espeak else ())]
    draw = np.random.default_rng(args.seed)
    said = sentences(args.each * len(voices), args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, (words, sensitive) in enumerate(said):
        voice = voices[number % len(voices)]
        speech = (
            flite_speech(" ".join(words), voice)[0]
            if voice in FLITE_VOICES
            else speak_espeak(words, voice, draw).speech
        )
        (args.out / f"{number:05}.flac").write_bytes(to_flac(resample(noisy(speech, draw), 16_000)))
        rows.append({
            "id": f"{number:05}", "dialogue_id": f"{number:05}", "speaker_id": voice, "language": "en",
            "text": " ".join(words), "slots": slots(words, sensitive), "audio_filepath": f"{number:05}.flac",
        })  # fmt: skip
    (args.out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    print(f"{len(rows):,} sentences of {len(voices)} voices")


def noisy(speech: Speech, draw: np.random.Generator) -> Speech:
    level = float(np.sqrt(np.mean(speech.samples**2)))
    noise = draw.normal(0, level * 10 ** (NOISE_DB / 20), len(speech.samples))
    return Speech((speech.samples + noise).astype(np.float32), speech.rate_hz)


def slots(words: list[str], sensitive: frozenset[int]) -> list[dict[str, object]]:
    """One for each run of sensitive words."""
    found: list[dict[str, object]] = []
    at = 0
    for number, word in enumerate(words):
        if number in sensitive:
            if number - 1 in sensitive:
                found[-1]["end"] = at + len(word)
            else:
                found.append({"begin": at, "end": at + len(word), "name": SLOTS.get(word, "person_name")})
        at += len(word) + 1
    return found


if __name__ == "__main__":
    main()
