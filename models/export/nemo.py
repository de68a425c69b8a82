"""JSONL manifests as NeMo reads them, one for each sink, with our keys for intents, slots and dialogues.

`stt_am.jsonl` has audio_filepath (FLAC, relative to the manifest), duration and text; the others have text. The keys
are those that `sottovoce sanitize` reads, so an export is a corpus again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sottovoce.models.export.audio_files import audio_path, write_audio
from sottovoce.models.runs.committed_run import CommittedRun


class Nemo:
    """Writes every sink as a manifest of NeMo."""

    sinks = ("stt_am", "stt_lm", "slu", "dm")
    says = (
        "One manifest for each sink. Paths of audio are relative to the manifest. There is no speaker: which slices "
        "share one is what the run hid. In dm.jsonl, dialogue_id is a fresh alias."
    )

    def write(self, run: CommittedRun, sinks: Sequence[str], folder: Path, target: Path) -> dict[str, int]:
        return {f"{sink}.jsonl": _write_manifest(run, sink, folder) for sink in sinks}


def _write_manifest(run: CommittedRun, sink: str, folder: Path) -> int:
    lines_of, count = LINES[sink], 0
    with (folder / f"{sink}.jsonl").open("w", encoding="utf-8", newline="\n") as manifest:
        for group in run.groups(sink):
            for row in group:
                if sink == "stt_am":
                    write_audio(folder, audio_path(row["id"], "flac"), row["audio"]["bytes"])
                for line in lines_of(row):
                    filled = {key: value for key, value in line.items() if value is not None}
                    manifest.write(json.dumps(filled, ensure_ascii=False) + "\n")
                    count += 1
    return count


def _speech(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    path = audio_path(row["id"], "flac")
    yield {"audio_filepath": path, "duration": row["duration_s"], "text": row["text"]} | _with_language(row)


def _text(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"text": row["text"]} | _with_language(row)


def _understanding(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"text": row["text"], "intent": row["intent"], "slots": row["slots"]} | _with_language(row)


def _dialogue(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, turn in enumerate(row["turns"], start=1):
        yield {
            "text": turn["text"],
            "dialogue_id": row["id"],
            "turn": number,
            "intent": turn["intent"],
            "slots": turn["slots"],
            "language": row["language"],
        }


def _with_language(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], "language": row["language"]}


LINES: dict[str, Callable[[dict[str, Any]], Iterator[dict[str, Any]]]] = {
    "stt_am": _speech,
    "stt_lm": _text,
    "slu": _understanding,
    "dm": _dialogue,
}
