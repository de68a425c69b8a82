"""What every sink is: a PTransform from batches of Utterances to batches of Rows of one safe type, with words about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import apache_beam as beam

from sottovoce.models.forget.whose import Part
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Safe, Utterance
from sottovoce.models.text.rewrite import NONE
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Outputs
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.text.stages import ReplaceEntities, RewriteEach
from sottovoce.transforms.write.rows import Row


class Sink(beam.PTransform):
    """A subclass sets the attributes and has `expand(batches) -> Outputs`, whose `passed` are batches of Rows."""

    record_type: ClassVar[type[Safe]]  # of its rows
    needs_audio: ClassVar[bool] = False  # left out of text-only corpora
    rows_per_shard: ClassVar[int] = 50_000
    mechanisms: ClassVar[tuple[str, ...]]  # the families of the job that it uses after detection
    stages: ClassVar[tuple[str, ...]]  # what happens between route and write, in order
    holds: ClassVar[str]  # for the report: what its records are
    released: ClassVar[tuple[str, ...]]  # for the ledger: what a reader learns exactly, whatever the mechanisms draw

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    @staticmethod
    def assemble(rows: Iterable[Row]) -> list[Row]:
        """Records out of the rows of one shard; several rows of one id where a record is made of several."""
        return list(rows)

    @staticmethod
    def keep_parts(columns: dict[str, Any], parts: Sequence[Part], kept: Sequence[int]) -> dict[str, Any]:
        """A record that loses some of its parts again: as if they had never been. Only records of several parts are asked."""
        raise NotImplementedError("records of this sink have one part each")


class ReplacedText(Sink):
    """What the sinks of text have in common: replace or rewrite, then make one row of each utterance."""

    mechanisms: ClassVar[tuple[str, ...]] = ("replace",)
    stages: ClassVar[tuple[str, ...]] = ("replace",)

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        """The row of one replaced utterance."""
        raise NotImplementedError("a sink of text makes its own rows")

    def expand(self, batches: beam.PCollection) -> Outputs:
        """Batches of Rows, with the failures and tallies of the replacement; of a crowd release there are none."""
        job = self._job
        if releases_templates(job.rewrite):  # what comes in is released already, and belongs to nobody
            replaced = Outputs(batches, (), ())
        else:
            replaced = batches | (ReplaceEntities(job) if job.rewrite.name == NONE else RewriteEach(job))
        rows = replaced.passed | "Rows" >> beam.Map(_rows, type(self).row, job.secret)
        return replaced._replace(passed=rows)


def _rows(replaced: list[Utterance], row: Callable[[Utterance, Secret], Row], secret: Secret) -> list[Row]:
    return [row(utterance, secret) for utterance in replaced]
