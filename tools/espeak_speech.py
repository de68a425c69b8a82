"""Speech in other languages whose word times are known: espeak-ng says texts and tells when each word and sound begins.

    python tools/espeak_speech.py de --texts massive/de-DE.jsonl.gz --split dev --count 60 --out data/espeak_de

Writes manifest.jsonl and one FLAC file an utterance. `words` of a row: [begin, end, begin_s, end_s], characters and times;
espeak-ng (Debian: libespeak-ng1) tells them by its events. Its voices are synthetic: what is measured on them is
how borders are found, not how real speech is recognised.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

VARIANTS = ("", "+m2", "+f2", "+m4", "+f4", "+m6")
_LIBRARY = "libespeak-ng.so.1"
_SYNCHRONOUS, _PHONE_EVENTS, _UTF8 = 2, 1, 1
_WORD, _END, _PHONE = 1, 5, 7
_PAUSE_MS = 30
ROOM_DB = -45.0
RATE_HZ = 16_000


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    ]


class Espeak:
    """One for a process: the library keeps its state to itself."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(_LIBRARY)
        self._rate_hz = self._library.espeak_Initialize(_SYNCHRONOUS, 0, None, _PHONE_EVENTS)
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))
        self._callback = kind(self._take)
        self._library.espeak_SetSynthCallback(self._callback)

    def say(self, text: str, voice: str) -> tuple[np.ndarray, int, list[tuple[int, float]], list[tuple[str, float]]]:
        """(samples, rate, [(character, time)] of the words, [(name, time)] of the sounds)."""
        self._samples: list[np.ndarray] = []
        self._words: list[tuple[int, float]] = []
        self._phones: list[tuple[str, float]] = []
        if self._library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise SystemExit(f"espeak-ng has no voice {voice}")
        content = text.encode("utf-8") + b"\0"
        self._library.espeak_Synth(content, len(content), 0, 1, 0, _UTF8, None, None)
        self._library.espeak_Synchronize()
        return np.concatenate(self._samples) / 32768, self._rate_hz, self._words, self._phones

    def _take(self, wave: Any, count: int, events: Any) -> int:
        if wave and count:
            self._samples.append(np.ctypeslib.as_array(wave, (count,)).astype(np.float64))
        at = 0
        while events[at].type:
            event = events[at]
            if event.type == _WORD:
                self._words.append((event.text_position - 1, event.audio_position / 1000))
            elif event.type == _PHONE:
                self._phones.append((event.id.decode("utf-8", "replace"), event.audio_position / 1000))
            at += 1
        return 0


def timed(
    text: str, words: list[tuple[int, float]], phones: list[tuple[str, float]], end_s: float
) -> list[list[float]]:
    """[begin, end, begin_s, end_s] of each word between blanks; one that is said in several steps begins with the first. A word
    ends where the next one or a pause begins."""
    starts, at = [], 0
    for token in text.split():
        begin = text.index(token, at)
        at = begin + len(token)
        times = [time for place, time in words if begin <= place < at]
        if times:
            starts.append((begin, at, min(times)))
    silences = [time for name, time in phones if name.startswith("_") or not name]
    ends = [start for _, _, start in starts[1:]] + [end_s]
    return [
        [begin, end, start, min([time for time in silences if start < time < until], default=until)]
        for (begin, end, start), until in zip(starts, ends, strict=True)
    ]


def texts_of(path: Path, split: str, count: int) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    chosen = [row for row in rows if row["split"] == split and 4 <= len(row["tokens"]) <= 14]
    for row in chosen[:: max(1, len(chosen) // count)][:count]:
        yield row["id"], " ".join(row["tokens"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("language")
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    espeak, draw, rows = Espeak(), np.random.default_rng(20), []
    for number, (name, text) in enumerate(texts_of(args.texts, args.split, args.count)):
        variant = VARIANTS[number % len(VARIANTS)]
        samples, rate_hz, words, phones = espeak.say(text, args.language + variant)
        noise = draw.standard_normal(len(samples)) * np.sqrt(np.mean(samples**2)) * 10 ** (ROOM_DB / 20)
        path = args.out / f"{args.language}_{name}.flac"
        soundfile.write(path, np.clip(samples + noise, -1, 1), rate_hz, subtype="PCM_16")
        rows.append({
            "id": f"{args.language}_{name}", "dialogue_id": f"{args.language}_{name}", "speaker_id": f"espeak{variant or '+m0'}",
            "text": text, "audio_filepath": str(path.resolve()), "language": args.language,
            "words": timed(text, words, phones, len(samples) / rate_hz),
        })  # fmt: skip
    (args.out / "manifest.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8"
    )
    print(f"{len(rows)} utterances in {args.language}")


if __name__ == "__main__":
    main()
