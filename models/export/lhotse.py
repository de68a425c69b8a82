"""Lhotse's cuts: `cuts.jsonl.gz` with one cut for each slice, its recording beside it as FLAC.

Paths are relative to the folder of the export; `CutSet.from_file(...).with_recording_path_prefix(FOLDER)` makes them whole.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.models.export.audio_files import audio_path, write_audio
from sottovoce.models.runs.committed_run import CommittedRun

CUTS = "cuts.jsonl.gz"


class Lhotse:
    """Writes slices of speech as cuts of Lhotse."""

    sinks = ("stt_am",)
    says = (
        "Cuts for Lhotse, one for each slice; paths of audio are relative to this folder "
        "(CutSet.from_file(...).with_recording_path_prefix). There is no speaker: which slices share one is what the run hid."
    )

    def write(self, run: CommittedRun, sinks: Sequence[str], folder: Path, target: Path) -> dict[str, int]:
        count = 0
        with gzip.open(folder / CUTS, "wt", encoding="utf-8", newline="\n") as cuts:
            for group in run.groups("stt_am"):
                for row in group:
                    path = audio_path(row["id"], "flac")
                    write_audio(folder, path, row["audio"]["bytes"])
                    cuts.write(json.dumps(_cut(row, str(path)), ensure_ascii=False) + "\n")
                    count += 1
        return {CUTS: count}


def _cut(row: dict[str, Any], path: str) -> dict[str, Any]:
    samples = round(row["duration_s"] * row["rate_hz"])
    said = {
        "id": row["id"],
        "recording_id": row["id"],
        "start": 0.0,
        "duration": row["duration_s"],
        "channel": 0,
        "text": row["text"],
        **({"language": row["language"]} if row["language"] else {}),
    }
    recording = {
        "id": row["id"],
        "sources": [{"type": "file", "channels": [0], "source": path}],
        "sampling_rate": row["rate_hz"],
        "num_samples": samples,
        "duration": samples / row["rate_hz"],
        "channel_ids": [0],
    }
    cut = {"id": row["id"], "start": 0.0, "duration": row["duration_s"], "channel": 0}
    return cut | {"supervisions": [said], "recording": recording, "type": "MonoCut"}
