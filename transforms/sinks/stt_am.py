"""Speech for the acoustic model: anonymised, masked, cut into slices that nothing joins."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import CANARY, SpeechSlice, Utterance
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.speech.chain import masks_first, order
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine.hints import gpu_hints
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Outputs
from sottovoce.transforms.sinks.sink import Sink
from sottovoce.transforms.speech.stages import STAGES, LoadSpeech, Sliced, SpeakTexts
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.write.private_files import create_private, make_private_folder
from sottovoce.transforms.write.rows import StagedBytes, keep_first, pack, to_row, unpack

SEGMENT_BYTES = 64 << 20
UTTERANCES_IN_MEMORY = 4  # decoded speech is large: a batch goes through the speech stages in small parts


class SpeechSink(Sink):
    """The sink `stt_am`: the one sink of speech. In a crowd release it speaks released texts, and uses no recording."""

    record_type = SpeechSlice
    needs_audio = True
    rows_per_shard = 2_000
    mechanisms = ("align", "voice", "mask", "relisten")
    stages = ("load", "align", "voice", "mask", "relisten", "slice", "unlink")
    holds = "speech slices with their text, for the acoustic model of a recogniser"
    released = (
        "the number of speech slices and the length of each",
        "every word of a slice that no detector marked, as speech and as text",
    )

    def expand(self, batches: beam.PCollection) -> Outputs:
        """All stages of speech in small parts, then slices set aside and copies dropped; rows hold references to audio."""
        job = self._job
        failures: list[Any] = []
        tallies: list[Any] = []
        hints = gpu_hints(job, job.align, job.voice, job.mask, job.relisten)
        passed = batches | "InSmallParts" >> beam.FlatMap(_small_parts).with_resource_hints(**hints)
        stages = (LoadSpeech, *(STAGES[name] for name in order(job.audio.align_on, masks_first(job.mask))))
        for stage in (SpeakTexts,) if releases_templates(job.rewrite) else stages:
            outputs = passed | stage(job).with_resource_hints(**hints)
            passed = outputs.passed
            failures += outputs.failures
            tallies += outputs.tallies
        parts = (
            passed
            | "SetSlicesAside" >> beam.ParDo(SetSlicesAside(job.places)).with_resource_hints(**hints)
            | "ByUtterance" >> beam.GroupByKey()
            | "DropCopies" >> beam.ParDo(_DropCopies(job.secret)).with_outputs(FAILURES, TALLY, main=PASSED)
        )
        return Outputs(parts[PASSED], (*failures, parts[FAILURES]), (*tallies, parts[TALLY]))


def _small_parts(batch: Sequence[Utterance]) -> Iterator[Sequence[Utterance]]:
    for begin in range(0, len(batch), UTTERANCES_IN_MEMORY):
        yield batch[begin : begin + UTTERANCES_IN_MEMORY]


class SetSlicesAside(beam.DoFn):
    """Batches of Sliced -> (origin, packed rows), where each row's audio is a reference: audio never crosses a shuffle.

    Each bundle appends its FLAC files to a segment of its own name. A bundle that is retried leaves a segment that nothing
    refers to; all segments lie in the run's private work folder, which is removed when the run is committed.
    """

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


class _DropCopies(beam.DoFn):
    """Slices of one utterance end in different shards, so copies are found here, where they are still together."""

    def __init__(self, secret: Secret):
        self._secret = secret

    def process(self, keyed: tuple[str, Iterable[bytes]]) -> Iterator[Any]:
        rows = unpack(keyed[1])
        kept, failures = keep_first(rows, self._secret, "unlink")
        yield kept
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        if rows[0].source.file == CANARY:
            return
        copies = len({row.source for row in rows})
        reasons = [failure.reason for failure in failures]
        yield beam.pvalue.TaggedOutput(TALLY, Tally.of("unlink", received=copies, passed=1, reasons=reasons))
