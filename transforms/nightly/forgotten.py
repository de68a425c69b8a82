"""Leave out the people who were forgotten: no run takes them again.

Their marks are keyed hashes in private state, a table for each erasure. A worker reads them all when it starts (a million
of them take about 100 MB). What is left out is taken off the counts of reading again, so that a run says of itself
exactly what it would say had it never seen these records; how many there were is told to the operator alone.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.forget.whose import Forgotten, OwnedFailure, part_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.tally import StageCount, Tally
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import PASSED, TALLY, Outputs
from sottovoce.transforms.read.corpus import STAGE as READ

STAGE = "leave forgotten"
MARKS = pa.schema([("kind", pa.string()), ("token", pa.string())])
SPEAKER, DIALOGUE = "speaker", "dialogue"


def marks_of(forgotten: Forgotten) -> pa.Table:
    """The table that an erasure keeps: sorted keyed hashes, no name of anybody."""
    rows = [(SPEAKER, token) for token in sorted(forgotten.speakers)]
    rows += [(DIALOGUE, token) for token in sorted(forgotten.dialogues)]
    return pa.Table.from_pylist([dict(zip(MARKS.names, row, strict=True)) for row in rows], schema=MARKS)


@functools.cache
def read_marks(uris: tuple[str, ...]) -> Forgotten:
    """Once for each process: a table of marks never changes."""
    found: dict[str, set[str]] = {SPEAKER: set(), DIALOGUE: set()}
    for uri in uris:
        with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            for batch in pq.ParquetFile(file).iter_batches():
                for kind, token in zip(*batch.to_pydict().values(), strict=True):
                    found[kind].add(token)
    return Forgotten(frozenset(found[SPEAKER]), frozenset(found[DIALOGUE]))


class LeaveForgotten(beam.PTransform):
    """What reading gave -> the same without the records, and the refusals, of those who were forgotten."""

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, parts: tuple[beam.PCollection, ...]) -> Outputs:
        """`parts`: batches of Utterances, then one or more PCollections of refusals, as reading gives them."""
        batches, *failures = parts
        do = _Leave(self._job.secret, self._job.forgotten)
        passed = batches | "Records" >> beam.ParDo(do).with_outputs(TALLY, main=PASSED)
        refused = failures | beam.Flatten() | "Refusals" >> beam.ParDo(do).with_outputs(TALLY, main=PASSED)
        return Outputs(passed[PASSED], (refused[PASSED],), (passed[TALLY], refused[TALLY]))


class _Leave(beam.DoFn):
    def __init__(self, secret: Secret, marks: tuple[str, ...]):
        self._secret, self._marks = secret, marks

    def setup(self) -> None:
        self._forgotten = read_marks(self._marks)

    def process(self, batch: Sequence[Utterance | OwnedFailure]) -> Iterator[Any]:
        known: dict[tuple[str | None, str], bool] = {}
        kept: list[Any] = []
        left: list[Any] = []
        for item in batch:
            (left if self._is_forgotten(item, known) else kept).append(item)
        if kept:
            yield kept
        if left:
            yield beam.pvalue.TaggedOutput(TALLY, _uncount(left))

    def _is_forgotten(self, item: Utterance | OwnedFailure, known: dict[tuple[str | None, str], bool]) -> bool:
        if isinstance(item, OwnedFailure):
            return item.part in self._forgotten
        names = item.speaker_id, item.dialogue_id
        if names not in known:
            known[names] = part_of(self._secret, *names) in self._forgotten
        return known[names]


def _uncount(left: Iterable[Utterance | OwnedFailure]) -> Tally:
    items = list(left)
    reasons = Counter({item.reason: 0 for item in items if isinstance(item, OwnedFailure)})
    reasons.subtract(item.reason for item in items if isinstance(item, OwnedFailure))
    passed = sum(not isinstance(item, OwnedFailure) for item in items)
    unread = StageCount(received=-len(items), passed=-passed, reasons=reasons)
    return Tally({READ: unread, STAGE: StageCount(received=len(items))})
