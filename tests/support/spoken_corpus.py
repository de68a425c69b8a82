"""Short commands in the voices of flite: a corpus of speech made on the spot, small enough to train on in seconds."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from sottovoce.models.evaluation.known_answers.word_times import FLITE_VOICES, ProgramMissing, flite_speech
from sottovoce.models.speech.audio import Speech, to_flac

WORDS = ("seven", "stop", "enter", "zero", "rubout", "march")
LETTERS = ("b.", "d.", "e.", "p.", "t.", "v.")  # hard to tell apart


def commands(count: int, words: int = 3, seed: int = 0, among: Sequence[str] = WORDS) -> list[tuple[str, ...]]:
    draw = random.Random(seed)
    return [tuple(draw.choices(among, k=words)) for _ in range(count)]


def say(words: tuple[str, ...], voice: str) -> Speech:
    try:
        return flite_speech(" ".join(word.rstrip(".") for word in words), voice)[0]
    except ProgramMissing as missing:
        pytest.skip(str(missing))


def write_corpus(folder: Path, recordings: int) -> Path:
    """A manifest with a speaker for each voice of flite, and so many recordings of each."""
    rows = []
    for number, voice in enumerate(FLITE_VOICES):
        for place, words in enumerate(commands(recordings, seed=number)):
            name = f"{voice}-{place}"
            (folder / f"{name}.flac").write_bytes(to_flac(say(words, voice)))
            rows.append({
                "id": name, "dialogue_id": name, "speaker_id": voice, "text": " ".join(words), "language": "en",
                "audio_filepath": str(folder / f"{name}.flac"),
            })  # fmt: skip
    path = folder / "manifest.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
