"""Set slices aside and pass on references: audio never crosses a shuffle.

Each bundle appends its FLAC files to a segment of its own name. A bundle that is retried leaves a segment that nothing
refers to; all segments lie under `_work/`, which is removed when the run is committed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.records import Source, SpeechSlice
from sottovoce.transforms.rows import StagedBytes, pack, to_row

SEGMENT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Sliced:
    """The slices of one utterance, under its keyed origin."""

    origin: str
    source: Source
    slices: tuple[SpeechSlice, ...]


class StageAudio(beam.DoFn):
    """Batches of Sliced -> (origin, packed rows), where each row's audio is a reference."""

    def __init__(self, run_uri: str):
        self._folder = FileSystems.join(run_uri, "_work", "audio")
        self._file: Any = None
        self._uri, self._size = "", 0

    def process(self, batch: Sequence[Sliced]) -> Iterator[tuple[str, bytes]]:
        for sliced in batch:
            rows = [
                to_row(sliced.origin, sliced.source, piece, audio=self._append(piece.audio)) for piece in sliced.slices
            ]
            yield sliced.origin, pack(rows)

    def finish_bundle(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _append(self, content: bytes) -> StagedBytes:
        if self._file is None or self._size >= SEGMENT_BYTES:
            self.finish_bundle()
            self._uri, self._size = FileSystems.join(self._folder, uuid.uuid4().hex), 0
            self._file = FileSystems.create(self._uri, compression_type=CompressionTypes.UNCOMPRESSED)
        self._file.write(content)
        staged = StagedBytes(self._uri, self._size, len(content))
        self._size += len(content)
        return staged
