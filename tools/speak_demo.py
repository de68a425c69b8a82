"""Speak the demo corpus: dialogues.txt -> manifest.jsonl and one FLAC file for each turn; and the example of the report.
Run by `make corpus`.

The text file is the only source: manifest and audio follow from it, and nothing is drawn at random, so that the same
versions of flite and espeak-ng (Debian 12: 2.2 and 1.51) make the same samples again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from scipy.signal import resample_poly

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo"
RATE_HZ = 16_000
LEVEL_DBOV = -26.0  # the usual speech level of ITU-T P.56
ROOM_DB = -40.0  # noise of a quiet room under the speech: bare synthesis is unlike anything recognisers were trained on
STEP = 8 / 32768  # 13 of 16 bits, as in telephone speech: about 50 dB above the rounding, and files a third smaller
SHORTEST_S, LONGEST_S = 1.5, 7.0

SLOT = re.compile(r"\[([a-z_]+):([^\]]+)\]")
TURN = re.compile(r"(?P<marked>.+?)  #(?P<intent>[a-z_]+)")


@dataclass(frozen=True)
class Voice:
    speaker_id: str
    gender: str
    synthesizer: str
    name: str


@dataclass(frozen=True)
class Turn:
    dialogue_id: str
    turn: int
    voice: Voice
    text: str
    intent: str
    slots: tuple[dict[str, Any], ...]

    @property
    def id(self) -> str:
        return f"{self.dialogue_id}-{self.turn}"


def read_turns(lines: Iterable[str]) -> Iterator[Turn]:
    """The turns of the text file in order. A line that fits no rule stops the script: a slip must not be spoken."""
    voices: dict[str, Voice] = {}
    dialogue_id, speaker_id, turn = "", "", 0
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("voice "):
            voice = Voice(*line.split()[1:])
            voices[voice.speaker_id] = voice
        elif line.startswith("== "):
            _, dialogue_id, speaker_id = line.split()
            turn = 0
        elif match := TURN.fullmatch(line):
            turn += 1
            text, slots = take_out_slots(match["marked"])
            yield Turn(dialogue_id, turn, voices[speaker_id], text, match["intent"], slots)
        else:
            raise SystemExit(f"line {number} is neither a voice, a dialogue nor a turn with an #intent")


def take_out_slots(marked: str) -> tuple[str, tuple[dict[str, Any], ...]]:
    """'call [contact:anna]' -> ('call anna', ({'begin': 5, 'end': 9, 'name': 'contact'},))."""
    text, slots, at = "", [], 0
    for match in SLOT.finditer(marked):
        text += marked[at : match.start()]
        slots.append({"begin": len(text), "end": len(text) + len(match[2]), "name": match[1]})
        text += match[2]
        at = match.end()
    return text + marked[at:], tuple(slots)


def speak(voice: Voice, text: str) -> np.ndarray:
    """Mono samples at RATE_HZ, as loud as every other turn."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as wav:
        command = {
            "flite": ["flite", "-voice", voice.name, "-t", text, "-o", wav.name],
            "espeak-ng": ["espeak-ng", "-v", voice.name, "-s", "165", "-w", wav.name, text],
        }[voice.synthesizer]
        subprocess.run(command, check=True)
        samples, rate_hz = soundfile.read(wav.name, dtype="float64")
    if rate_hz != RATE_HZ:
        samples = resample_poly(samples, RATE_HZ, rate_hz)
    if len(samples) < SHORTEST_S * RATE_HZ:
        samples = np.pad(samples, (0, round(SHORTEST_S * RATE_HZ) - len(samples)))
    spoken = np.abs(samples) > 0.01 * np.abs(samples).max()
    samples = samples / np.sqrt(np.mean(samples[spoken] ** 2))
    room = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(len(samples))  # the same in every run
    samples = (samples + room * 10 ** (ROOM_DB / 20)) * 10 ** (LEVEL_DBOV / 20)
    return np.clip(np.round(samples / STEP) * STEP, -1.0, 1.0 - STEP)


def manifest_row(turn: Turn, duration_s: float) -> dict[str, Any]:
    return {
        "id": turn.id,
        "audio_filepath": f"audio/{turn.id}.flac",
        "duration": round(duration_s, 3),
        "text": turn.text,
        "dialogue_id": turn.dialogue_id,
        "turn": turn.turn,
        "speaker_id": turn.voice.speaker_id,
        "gender": turn.voice.gender,
        "language": "en",
        "intent": turn.intent,
        "slots": list(turn.slots),
    }


def speak_example() -> None:
    """The invented sentence that every report shows before and after."""
    from sottovoce.pipelines.sanitize import report_example

    path = Path(report_example.__file__).with_name(report_example.RECORDING)
    samples = speak(Voice("", "", "flite", "slt"), report_example.TEXT)
    soundfile.write(path, samples, RATE_HZ, subtype="PCM_16", compression_level=1.0)


def main() -> None:
    missing = [program for program in ("flite", "espeak-ng") if shutil.which(program) is None]
    if missing:
        raise SystemExit(f"missing: {', '.join(missing)}. Install with: apt-get install {' '.join(missing)}")
    turns = list(read_turns((DEMO / "dialogues.txt").read_text("utf-8").splitlines()))
    audio = DEMO / "audio"
    shutil.rmtree(audio, ignore_errors=True)
    audio.mkdir()
    total_s = 0.0
    with (DEMO / "manifest.jsonl").open("w", encoding="utf-8") as manifest:
        for turn in turns:
            samples = speak(turn.voice, turn.text)
            duration_s = len(samples) / RATE_HZ
            if duration_s > LONGEST_S:
                raise SystemExit(f"{turn.id} lasts {duration_s:.1f} s; at most {LONGEST_S} s: shorten its text")
            soundfile.write(audio / f"{turn.id}.flac", samples, RATE_HZ, subtype="PCM_16", compression_level=1.0)
            manifest.write(json.dumps(manifest_row(turn, duration_s), ensure_ascii=False) + "\n")
            total_s += duration_s
    speak_example()
    size = sum(path.stat().st_size for path in audio.iterdir())
    dialogues, speakers = {turn.dialogue_id for turn in turns}, {turn.voice for turn in turns}
    print(
        f"{len(turns)} turns, {len(dialogues)} dialogues, {len(speakers)} voices, "
        f"{total_s / 60:.1f} minutes, {size / 1e6:.1f} MB of FLAC"
    )


if __name__ == "__main__":
    main()
