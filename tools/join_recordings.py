"""Recordings of a speaker joined into longer ones, to measure what slices of several seconds do on a corpus of short ones.

    python tools/join_recordings.py an4.jsonl --each 3 --out joined

Recordings follow each other in the order of the manifest, with nothing between them; what is left of a speaker is left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio import Speech, load, resample, to_flac

RATE_HZ = 16_000


def main() -> None:
    parser = argparse.ArgumentParser(description="recordings of a speaker, several in a row")
    parser.add_argument("manifest", type=Path, help="JSON lines with speaker_id, audio_filepath and text")
    parser.add_argument("--each", type=int, default=3, help="recordings in one (default 3)")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args()
    by_speaker: dict[str, list[dict[str, str]]] = {}
    for line in args.manifest.read_text("utf-8").splitlines():
        row = json.loads(line)
        by_speaker.setdefault(row["speaker_id"], []).append(row)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for speaker, own in sorted(by_speaker.items()):
        for begin in range(0, len(own) - args.each + 1, args.each):
            name = f"{speaker}-{begin:04}"
            parts = own[begin : begin + args.each]
            speech = np.concatenate([_samples(args.manifest.parent / part["audio_filepath"]) for part in parts])
            (args.out / f"{name}.flac").write_bytes(to_flac(Speech(speech, RATE_HZ)))
            rows.append({
                "id": name, "dialogue_id": name, "speaker_id": speaker, "text": " ".join(part["text"] for part in parts),
                "audio_filepath": f"{name}.flac", "language": "en",
            })  # fmt: skip
    (args.out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    print(f"{len(rows):,} recordings of {len(by_speaker):,} speakers")


def _samples(path: Path) -> np.ndarray:
    return resample(load(AudioRef(str(path))), RATE_HZ).samples


if __name__ == "__main__":
    main()
