"""Examples for spoken language understanding: text, intent, and slots at their new places."""

from __future__ import annotations

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import SluExample, Utterance
from sottovoce.transforms.job import Job
from sottovoce.transforms.replace import ReplaceEntities
from sottovoce.transforms.rows import Row, to_row
from sottovoce.transforms.stage import Outputs


class SluSink(beam.PTransform):
    record_type = SluExample
    needs_audio = False
    rows_per_shard = 50_000
    stages = "replace"

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        job = self._job
        replaced = batches | ReplaceEntities(job)
        rows = replaced.passed | "Rows" >> beam.Map(_rows, job.secret)
        return replaced._replace(passed=rows)


def _rows(replaced: list[Utterance], secret: Secret) -> list[Row]:
    rows = []
    for utterance in replaced:
        example = SluExample(
            id=secret.token("slu example", utterance.dialogue_id, utterance.id),
            text=utterance.text,
            intent=utterance.intent,
            slots=utterance.slots,
            language=utterance.language,
        )
        rows.append(to_row(example.id, utterance.source, example))
    return rows
