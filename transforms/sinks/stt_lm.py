"""Text for the language model of speech recognition: single lines with nothing that joins them."""

from __future__ import annotations

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import TextLine, Utterance
from sottovoce.transforms.job import Job
from sottovoce.transforms.replace import ReplaceEntities
from sottovoce.transforms.rows import Row, to_row
from sottovoce.transforms.stage import Outputs


class TextSink(beam.PTransform):
    record_type = TextLine
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
        name = secret.token("text line", utterance.dialogue_id, utterance.id)
        rows.append(to_row(name, utterance.source, TextLine(name, utterance.text, utterance.language)))
    return rows
