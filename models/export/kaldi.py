"""A Kaldi data directory from the speech slices: wav.scp, text, utt2spk, spk2utt, utt2dur, sorted in the C locale.

Each slice is its own speaker: which slices share one is what the run hid. Audio is written as WAV, since Kaldi itself
reads no FLAC and an entry of wav.scp that pipes it through a program would be a command that readers have to run.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sottovoce.models.export.audio_files import audio_path, write_audio
from sottovoce.models.runs.committed_run import CommittedRun

SINK = "stt_am"
PREFIX_CHARACTERS = 2


class Kaldi:
    """Writes slices of speech as a Kaldi data directory."""

    sinks = (SINK,)
    says = (
        "Each slice is its own speaker: which slices share one is what the run hid. Use per-utterance or online CMVN "
        "and no speaker adaptation. Slices without words are left out. wav.scp names this folder; edit it if it moves."
    )

    def write(self, run: CommittedRun, sinks: Sequence[str], folder: Path, target: Path) -> dict[str, int]:
        lines = _SortedLines(folder / "lines.part")
        for group in run.groups(SINK):
            spoken = [row for row in group if row["text"].split()]
            for row in spoken:
                write_audio(folder, audio_path(row["id"], "wav"), _wav_of(row["audio"]["bytes"]))
            lines.add([f"{row['id']}\t{row['duration_s']:.4f}\t{' '.join(row['text'].split())}" for row in spoken])
        return {"wav.scp": _write_tables(lines, folder, target)}


def _write_tables(lines: _SortedLines, folder: Path, target: Path) -> int:
    count = 0
    names = ("wav.scp", "text", "utt2spk", "spk2utt", "utt2dur")
    files: dict[str, Any] = {name: (folder / name).open("w", encoding="utf-8", newline="\n") for name in names}
    try:
        for line in lines.take():
            slice_id, duration_s, text = line.split("\t")
            files["wav.scp"].write(f"{slice_id} {target / audio_path(slice_id, 'wav')}\n")
            files["text"].write(f"{slice_id} {text}\n")
            files["utt2spk"].write(f"{slice_id} {slice_id}\n")
            files["spk2utt"].write(f"{slice_id} {slice_id}\n")
            files["utt2dur"].write(f"{slice_id} {duration_s}\n")
            count += 1
    finally:
        for file in files.values():
            file.close()
    return count


def _wav_of(flac: bytes) -> bytes:
    """The same samples; FLAC slices have 16 bits."""
    import soundfile

    samples, rate_hz = soundfile.read(io.BytesIO(flac), dtype="int16")
    wav = io.BytesIO()
    soundfile.write(wav, samples, rate_hz, format="WAV", subtype="PCM_16")
    return wav.getvalue()


class _SortedLines:
    """Sorts on disk: one file for each beginning of a line, sorted when it is taken; one such file is in memory.

    Beginnings are characters of keyed ids, so the files are of about equal size. All of an id is ASCII, so that the
    order of characters is that of the C locale.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        folder.mkdir()

    def add(self, lines: Sequence[str]) -> None:
        parts: dict[str, list[str]] = {}
        for line in lines:
            parts.setdefault(line[:PREFIX_CHARACTERS], []).append(line)
        for prefix, part in parts.items():
            with (self._folder / prefix).open("a", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in part)

    def take(self) -> Iterator[str]:
        for path in sorted(self._folder.iterdir()):
            yield from sorted(path.read_text("utf-8").split("\n")[:-1])
            path.unlink()
        self._folder.rmdir()
