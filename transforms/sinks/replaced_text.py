"""What the sinks of text have in common: replace, then make one row of each utterance."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.transforms.job import Job
from sottovoce.transforms.replace import ReplaceEntities
from sottovoce.transforms.rows import Row
from sottovoce.transforms.stage import Outputs


class ReplacedText(beam.PTransform):
    needs_audio = False
    rows_per_shard = 50_000
    stages = "replace"
    row: ClassVar[Callable[[Utterance, Secret], Row]]  # of a replaced utterance; a subclass has it as a static method

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        replaced = batches | ReplaceEntities(self._job)
        rows = replaced.passed | "Rows" >> beam.Map(_rows, type(self).row, self._job.secret)
        return replaced._replace(passed=rows)


def _rows(replaced: list[Utterance], row: Callable[[Utterance, Secret], Row], secret: Secret) -> list[Row]:
    return [row(utterance, secret) for utterance in replaced]
