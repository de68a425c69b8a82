"""Set slices aside and pass on references: audio never crosses a shuffle.

Each bundle appends its FLAC files to a segment of its own name. A bundle that is retried leaves a segment that nothing
refers to; all segments lie in the run's private work folder, which is removed when the run is committed.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from sottovoce.models.forget.whose import Part
from sottovoce.models.records import Source, SpeechSlice
from sottovoce.models.runs.places import RunPlaces
from sottovoce.transforms.write.private_files import create_private, make_private_folder
from sottovoce.transforms.write.rows import StagedBytes, pack, to_row

SEGMENT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Sliced:
    """The slices of one utterance, under its keyed origin."""

    origin: str
    source: Source
    slices: tuple[SpeechSlice, ...]
    part: Part

    def parts(self) -> Iterator[Part]:
        """The first slice stands for the utterance where utterances are counted."""
        yield self.part
        yield from itertools.repeat(self.part._replace(first=False, audio_s=0.0), len(self.slices) - 1)


class SetSlicesAside(beam.DoFn):
    """Batches of Sliced -> (origin, packed rows), where each row's audio is a reference."""

    def __init__(self, places: RunPlaces):
        self._folder = places.staged_audio
        self._file: Any = None
        self._uri, self._size = "", 0

    def process(self, batch: Sequence[Sliced]) -> Iterator[tuple[str, bytes]]:
        """Appends the audio of all slices to the segment, then passes on the rows of each utterance as one pack."""
        for sliced in batch:
            rows = [
                to_row(sliced.origin, sliced.source, piece, part, audio=self._append(piece.audio))
                for piece, part in zip(sliced.slices, sliced.parts(), strict=True)
            ]
            yield sliced.origin, pack(rows)

    def finish_bundle(self) -> None:
        """Closes the segment; what comes next begins a new one."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _append(self, content: bytes) -> StagedBytes:
        if self._file is None or self._size >= SEGMENT_BYTES:
            self.finish_bundle()
            make_private_folder(self._folder)
            self._uri, self._size = f"{self._folder}/{uuid.uuid4().hex}", 0
            self._file = create_private(self._uri)
        self._file.write(content)
        staged = StagedBytes(self._uri, self._size, len(content))
        self._size += len(content)
        return staged
