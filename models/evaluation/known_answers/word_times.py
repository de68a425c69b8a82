"""Speech with known word times, made on the spot by flite and espeak-ng: the truth that aligners are measured against.

flite prints when each phone ends; the phones of each word spoken alone tell where the words part. espeak-ng prints no
times, so its words are spoken one by one and joined. Both run as separate programs and are never linked.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.models.errors import SottovoceError
from sottovoce.models.records import AudioRef, Phone, Word
from sottovoce.models.speech.audio import Speech, level, load

FLITE_VOICES = ("awb", "kal16", "rms", "slt")
ESPEAK_VOICES = ("en-us", "en-gb", "en-us+f3", "en-gb+m3", "en-gb-scotland+f2")
VOWELS = frozenset(
    ["aa", "ae", "ah", "ao", "aw", "ax", "axr", "ay", "eh", "er", "ey", "ih", "iy", "ow", "oy", "uh", "uw"]
)
QUIET = 0.01  # of the peak: where a word spoken alone begins and ends
QUIET_ROOM = 10 ** (-30 / 20)  # of the level: acoustic models have never heard speech without any noise


class ProgramMissing(SottovoceError):
    """A synthesiser that a study needs is not on this machine; the message says how to get it."""

    def __init__(self, name: str):
        super().__init__(f"{name} is not installed. Install it with: apt-get install {name}")


@dataclass(frozen=True, slots=True, repr=False)
class Known:
    """Speech, the text it says, and when each word of it is said."""

    speech: Speech
    text: str
    words: tuple[Word, ...]


def speak_flite(words: Sequence[str], voice: str) -> Known:
    """One fluent utterance of a flite voice."""
    text = " ".join(words)
    speech, printed = flite_speech(text, voice)
    phones = _flite_phones(printed)
    alone = _run("flite", "-voice", voice, "-psdur", "-t", ". ".join(words) + ".", "-o", "none")
    owners = _owners([phone.label for phone in phones], _phones_of_words(alone, len(words)))
    offsets = _offsets(words)
    return Known(
        speech,
        text,
        tuple(
            _word(offsets[index], [phone for phone, owner in zip(phones, owners, strict=True) if owner == index])
            for index in range(len(words))
        ),
    )


def flite_speech(text: str, voice: str) -> tuple[Speech, str]:
    """The text as a flite voice says it, and what flite prints of its phones."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spoken.wav"
        printed = _run("flite", "-voice", voice, "-psdur", "-t", text, "-o", str(path))
        return load(AudioRef(str(path))), printed


def speak_espeak(words: Sequence[str], voice: str, rng: np.random.Generator) -> Known:
    """The words spoken one by one and joined, with pauses of up to 80 ms between them."""
    pieces, times, at = [np.zeros(2000, np.float32)], [], 2000
    rate_hz = 0
    for word in words:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "spoken.wav"
            _run("espeak-ng", "-v", voice, "-w", str(path), word)
            spoken = load(AudioRef(str(path)))
        loud = np.flatnonzero(np.abs(spoken.samples) > QUIET * np.max(np.abs(spoken.samples)))
        sound = spoken.samples[loud[0] : loud[-1] + 1]
        rate_hz = spoken.rate_hz
        pause = np.zeros(int(rng.uniform(0, 0.08) * rate_hz), np.float32)
        times.append((at / rate_hz, (at + len(sound)) / rate_hz))
        pieces += [sound, pause]
        at += len(sound) + len(pause)
    samples = np.concatenate([*pieces, np.zeros(2000, np.float32)])
    samples += rng.normal(0, QUIET_ROOM * level(samples), len(samples)).astype(np.float32)
    spans = zip(_offsets(words), times, strict=True)
    found = tuple(Word(begin, end, begin_s, end_s, 1.0) for (begin, end), (begin_s, end_s) in spans)
    return Known(Speech(samples, rate_hz), " ".join(words), found)


def _run(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        raise ProgramMissing(program)
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def _flite_phones(printed: str) -> list[Phone]:
    """Phones without pauses, from "pau:0.164 hh:0.255 ..."; each begins where the one before it ends."""
    phones, begin_s = [], 0.0
    for item in printed.split():
        label, _, end = item.partition(":")
        if label != "pau":
            phones.append(Phone(label, begin_s, float(end)))
        begin_s = float(end)
    return phones


def _phones_of_words(printed: str, count: int) -> list[list[str]]:
    """Phones of words that were spoken with a pause after each."""
    groups: list[list[str]] = [[]]
    for item in printed.split():
        label = item.partition(":")[0]
        if label != "pau":
            groups[-1].append(label)
        elif groups[-1]:
            groups.append([])
    groups = [group for group in groups if group]
    if len(groups) != count:
        raise ValueError(f"flite spoke {len(groups)} words instead of {count}: give it plain words")
    return groups


def _owners(heard: Sequence[str], alone: Sequence[Sequence[str]]) -> list[int]:
    """For each heard phone the word it belongs to: the cheapest edit path to the words' phones spoken alone."""
    expected = [(label, index) for index, group in enumerate(alone) for label in group]
    rows, columns = len(heard) + 1, len(expected) + 1
    cost = np.zeros((rows, columns))
    cost[:, 0], cost[0, :] = np.arange(rows), np.arange(columns)
    for i in range(1, rows):
        for j in range(1, columns):
            swap = cost[i - 1, j - 1] + _difference(heard[i - 1], expected[j - 1][0])
            cost[i, j] = min(swap, cost[i - 1, j] + 1, cost[i, j - 1] + 1)
    owners, i, j = [0] * len(heard), rows - 1, columns - 1
    while i > 0:
        if j > 0 and cost[i, j] == cost[i - 1, j - 1] + _difference(heard[i - 1], expected[j - 1][0]):
            i, j = i - 1, j - 1
            owners[i] = expected[j][1]
        elif cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
            owners[i] = expected[max(j - 1, 0)][1]
        else:
            j -= 1
    return owners


def _difference(one: str, other: str) -> float:
    if one == other:
        return 0.0
    return 0.5 if one in VOWELS and other in VOWELS else 1.0


def _offsets(words: Sequence[str]) -> list[tuple[int, int]]:
    offsets, at = [], 0
    for word in words:
        offsets.append((at, at + len(word)))
        at += len(word) + 1
    return offsets


def _word(offset: tuple[int, int], phones: Sequence[Phone]) -> Word:
    if not phones:
        raise ValueError("flite swallowed a word: give it plain words")
    return Word(*offset, phones[0].begin_s, phones[-1].end_s, 1.0, tuple(phones))
