"""Canaries among the records: they go through the stages in batches of their own, and are set apart before anything is
written, into the private work folder, which is gone when the run is committed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam

from sottovoce.models.records import CANARY
from sottovoce.models.runs.places import RunPlaces
from sottovoce.transforms.engine.stage import is_invented
from sottovoce.transforms.write.rows import Row, schema_of
from sottovoce.transforms.write.shards import write_parquet


def of_the_corpus(batch: list[Any]) -> bool:
    """False for canaries, which are planted to measure a run and belong to nobody: they are neither charged nor counted."""
    return not is_invented(batch)


def _is_canary(rows: list[Row]) -> bool:
    return bool(rows) and rows[0].source.file == CANARY


class SetCanariesApart(beam.PTransform):
    """Batches of Rows of a sink -> those of the corpus. What became of canaries is written down on the way."""

    def __init__(self, places: RunPlaces, sink: str, record_type: type, assemble: Callable[[list[Row]], list[Row]]):
        super().__init__()
        self._write = _WriteCanaries(places.canaries(sink), record_type, assemble)

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        """The batches of the corpus; those of canaries end in the work folder."""
        rows | "Canaries" >> beam.Filter(_is_canary) | "WriteCanaries" >> beam.ParDo(self._write)
        return rows | "OfTheCorpus" >> beam.Filter(lambda rows: not _is_canary(rows))


class _WriteCanaries(beam.DoFn):
    """A bundle that is retried leaves a second copy, which its ids tell."""

    def __init__(self, folder: str, record_type: type, assemble: Callable[[list[Row]], list[Row]]):
        self._folder, self._assemble, self._schema = folder, assemble, schema_of(record_type)

    def process(self, rows: list[Row]) -> Iterator[Any]:
        write_parquet(f"{self._folder}/{uuid.uuid4().hex}.parquet", self._assemble(rows), self._schema, private=True)
        yield from ()
