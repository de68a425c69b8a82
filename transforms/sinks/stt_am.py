"""Speech for the acoustic model: anonymised, masked, cut into slices that nothing joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import SpeechSlice, Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms.align import AlignWords
from sottovoce.transforms.duplicates import keep_first
from sottovoce.transforms.gpu import gpu_hints
from sottovoce.transforms.job import Job
from sottovoce.transforms.load import LoadSpeech
from sottovoce.transforms.mask import MaskWords
from sottovoce.transforms.relisten import ListenAgain
from sottovoce.transforms.rows import unpack
from sottovoce.transforms.slice import SliceSpeech
from sottovoce.transforms.stage import FAILURES, PASSED, TALLY, Outputs
from sottovoce.transforms.stage_audio import StageAudio
from sottovoce.transforms.voice import AnonymiseVoice

UTTERANCES_IN_MEMORY = 4  # decoded speech is large: a batch goes through the speech stages in small parts


class SpeechSink(beam.PTransform):
    record_type = SpeechSlice
    needs_audio = True
    rows_per_shard = 2_000
    stages = "load -> align -> voice -> mask -> relisten -> slice -> unlink"

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        job = self._job
        failures: list[Any] = []
        tallies: list[Any] = []
        hints = gpu_hints(job, job.align, job.voice, job.mask, job.relisten)
        passed = batches | "InSmallParts" >> beam.FlatMap(_small_parts).with_resource_hints(**hints)
        # The original aligns best, and its phones help the voice; COMPRISE aligns what the voice made of it.
        middle = (AlignWords, AnonymiseVoice) if job.audio.align_on == "original" else (AnonymiseVoice, AlignWords)
        for stage in (LoadSpeech, *middle, MaskWords, ListenAgain, SliceSpeech):
            outputs = passed | stage(job).with_resource_hints(**hints)
            passed = outputs.passed
            failures += outputs.failures
            tallies += outputs.tallies
        parts = (
            passed
            | "StageAudio" >> beam.ParDo(StageAudio(job.run_uri)).with_resource_hints(**hints)
            | "ByUtterance" >> beam.GroupByKey()
            | "DropCopies" >> beam.ParDo(_DropCopies(job.secret)).with_outputs(FAILURES, TALLY, main=PASSED)
        )
        return Outputs(parts[PASSED], (*failures, parts[FAILURES]), (*tallies, parts[TALLY]))


def _small_parts(batch: Sequence[Utterance]) -> Iterator[Sequence[Utterance]]:
    for begin in range(0, len(batch), UTTERANCES_IN_MEMORY):
        yield batch[begin : begin + UTTERANCES_IN_MEMORY]


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
        copies = len({row.source for row in rows})
        reasons = [failure.reason for failure in failures]
        yield beam.pvalue.TaggedOutput(TALLY, Tally.of("unlink", received=copies, passed=1, reasons=reasons))
