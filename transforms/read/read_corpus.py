"""Read a corpus into batches of Utterances: list, scan, spread the pieces over the workers, parse.

Only descriptors of pieces cross the shuffle (about 200 bytes for a batch); the records are read where they are used.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import apache_beam as beam

from sottovoce.models.corpus import Chunk, CorpusFile, Refused
from sottovoce.models.corpus.kaldi import Kaldi
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Outputs
from sottovoce.transforms.read.corpus import Corpus, Reading, guarded, make_reader, open_corpus, open_file
from sottovoce.transforms.read.read_kaldi import ReadTables

__all__ = ["Corpus", "ReadCorpus", "open_corpus"]


class ReadCorpus(beam.PTransform):
    """`pipeline | ReadCorpus(corpus, job)` -> batches of Utterances, failures and tallies."""

    def __init__(self, corpus: Corpus, job: Job):
        super().__init__()
        self._corpus, self._job = corpus, job
        self._reader = make_reader(corpus.format, job.input.records_per_batch, job.input.naming)

    def expand(self, pipeline: beam.Pipeline) -> Outputs:
        """`passed` are batches of Utterances; failures and tallies are those of scanning, then of parsing."""
        scanned = (
            pipeline
            | "Files" >> beam.Create([(file.uri, file) for file in self._corpus.files])
            # Grouped, not reshuffled: Flink's optimizer leaves out the second of two Reshuffles, and all chunks of a
            # corpus would stay on the worker that scanned it.
            | "SpreadFiles" >> beam.GroupByKey()
            | "EachFile" >> beam.FlatMapTuple(lambda _, files: files)
            | "Scan" >> beam.ParDo(_Scan(self._reader, self._job)).with_outputs(FAILURES, TALLY, main=PASSED)
        )
        chunks = scanned[PASSED] | "SpreadChunks" >> beam.Reshuffle()
        if isinstance(self._reader, Kaldi):
            parsed = chunks | "Tables" >> ReadTables(self._reader, self._corpus, self._job)
        else:
            parts = chunks | "Parse" >> beam.ParDo(_Parse(self._reader, self._job)).with_outputs(
                FAILURES, TALLY, main=PASSED
            )
            parsed = Outputs(parts[PASSED], (parts[FAILURES],), (parts[TALLY],))
        return Outputs(parsed.passed, (scanned[FAILURES], *parsed.failures), (scanned[TALLY], *parsed.tallies))


class _Scan(Reading):
    def process(self, file: CorpusFile) -> Iterator[Any]:
        began = time.perf_counter()
        for chunk in guarded(self._reader.scan(file, open_file), file):
            if isinstance(chunk, Refused):
                yield from self.report([chunk], 0, began)
            else:
                yield chunk


class _Parse(Reading):
    def process(self, chunk: Chunk) -> Iterator[Any]:
        began = time.perf_counter()
        records = guarded(self._reader.parse(chunk, open_file), chunk.file)
        while batch := list(itertools.islice(records, self._reader.records_per_batch)):
            yield from self.sort_out(batch, began)
            began = time.perf_counter()
