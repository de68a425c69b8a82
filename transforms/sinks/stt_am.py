"""Speech for the acoustic model: anonymised, masked, cut into slices that nothing joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import CANARY, SpeechSlice, Utterance
from sottovoce.models.speech.chain import masks_first, order
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine.hints import gpu_hints
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Outputs
from sottovoce.transforms.sinks.sink import Sink
from sottovoce.transforms.speech.set_aside import SetSlicesAside
from sottovoce.transforms.speech.stages import STAGES, LoadSpeech, SpeakTexts
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.write.rows import keep_first, unpack

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
