"""What every step of reading shares: how records, refusals and counts leave it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics

from sottovoce.models.corpus import CorpusFile, Reader, Refused
from sottovoce.models.errors import CorpusError
from sottovoce.models.tally import Tally
from sottovoce.transforms import progress
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import FAILURES, TALLY, make_failure

STAGE = "read"


class Reading(beam.DoFn):
    def __init__(self, reader: Reader, job: Job):
        self._reader, self._secret, self._progress_dir = reader, job.secret, job.progress_dir
        self._received = Metrics.counter("sottovoce", f"{STAGE}_received")
        self._failed = Metrics.counter("sottovoce", f"{STAGE}_failed")

    def teardown(self) -> None:
        progress.flush()

    def report(self, refused: Sequence[Refused], passed: int, began: float) -> Iterator[beam.pvalue.TaggedOutput]:
        seconds = time.perf_counter() - began  # before anything is passed on: what follows is not reading
        received = len(refused) + passed
        if not received:
            return
        failures = [make_failure(self._secret, STAGE, item.key, item.source, item.error) for item in refused]
        self._received.inc(received)
        self._failed.inc(len(failures))
        progress.note(self._progress_dir, STAGE, received, len(failures))
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        reasons = [failure.reason for failure in failures]
        tally = Tally.of(STAGE, received=received, passed=passed, reasons=reasons, seconds=seconds)
        yield beam.pvalue.TaggedOutput(TALLY, tally)

    def sort_out(self, records: Sequence[Any], began: float) -> Iterator[Any]:
        """The report, then a batch of what passed."""
        progress.stop_if_asked(self._progress_dir)
        passed = [record for record in records if not isinstance(record, Refused)]
        yield from self.report([record for record in records if isinstance(record, Refused)], len(passed), began)
        if passed:
            yield passed


def guarded(found: Iterator[Any], file: CorpusFile) -> Iterator[Any]:
    """An error of a filesystem quotes paths, and a path may name a person: the file is told by its public label."""
    try:
        yield from found
    except OSError as error:
        raise CorpusError(f"{file.label}: cannot be read ({type(error).__name__})") from None
