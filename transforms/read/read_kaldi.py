"""Read the tables of a Kaldi directory and join them in buckets; each bucket of utterances becomes a batch.

Ids are small, so recordings and speakers are joined in large buckets: many rows then travel as one element.
"""

from __future__ import annotations

import itertools
import math
import pickle
import time
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam

from sottovoce.models.corpus import Chunk, Refused
from sottovoce.models.corpus.kaldi import GENDERS, SEGMENTS, SPEAKERS, TEXT, WAVS, Kaldi, TableRow
from sottovoce.models.corpus.kaldi_join import assemble, bucket_of, locate, name_speakers, whole_recordings
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Outputs
from sottovoce.transforms.read.corpus import Corpus, Reading, guarded, open_file

ROWS_AT_ONCE = 8192
FILL = 0.8  # buckets differ in size, and one that is over a batch is cut in two halves
RECORDINGS, SPEAKER_ROWS = "recordings", "speakers"

Keyed = tuple[int, "Packed"]


class ReadTables(beam.PTransform):
    """Chunks of the tables of a Kaldi directory -> batches of Utterances, joined by their ids."""

    def __init__(self, reader: Kaldi, corpus: Corpus, job: Job):
        super().__init__()
        self._reader, self._corpus, self._job = reader, corpus, job
        self._buckets = max(1, math.ceil(corpus.records / (FILL * reader.records_per_batch)))
        self._large_buckets = max(1, math.ceil(corpus.records / ROWS_AT_ONCE))

    def expand(self, chunks: beam.PCollection) -> Outputs:
        """Three joins: rows by recording, by speaker, then all by utterance; failures are of rows and of utterances."""
        tables = frozenset(file.name for file in self._corpus.files)
        parse = _ParseRows(self._reader, self._job, tables, self._buckets, self._large_buckets)
        rows = chunks | "Parse" >> beam.ParDo(parse).with_outputs(
            FAILURES, TALLY, RECORDINGS, SPEAKER_ROWS, main=PASSED
        )
        by_utterance = [rows[PASSED]]
        for tag, join in ((RECORDINGS, locate), (SPEAKER_ROWS, name_speakers)):
            grouped = rows[tag] | f"Group {tag}" >> beam.GroupByKey()
            by_utterance.append(grouped | f"Join {tag}" >> beam.FlatMap(_join, join, self._buckets))
        text_file = next(file for file in self._corpus.files if file.name == TEXT)
        assembled = (
            by_utterance
            | "Flatten" >> beam.Flatten()
            | "Group utterances" >> beam.GroupByKey()
            | "Assemble"
            >> beam.ParDo(_Assemble(self._reader, self._job, text_file, tables)).with_outputs(
                FAILURES, TALLY, main=PASSED
            )
        )
        return Outputs(assembled[PASSED], (rows[FAILURES], assembled[FAILURES]), (rows[TALLY], assembled[TALLY]))


class _ParseRows(Reading):
    def __init__(self, reader: Kaldi, job: Job, tables: frozenset[str], buckets: int, large_buckets: int):
        super().__init__(reader, job)
        self._tables, self._buckets, self._large_buckets = tables, buckets, large_buckets

    def process(self, chunk: Chunk) -> Iterator[Any]:
        table = chunk.file.name
        records = guarded(self._reader.parse(chunk, open_file), chunk.file)
        began = time.perf_counter()
        while some := list(itertools.islice(records, ROWS_AT_ONCE)):
            rows = [row for row in some if isinstance(row, TableRow)]
            if table in (WAVS, SEGMENTS) and SEGMENTS in self._tables:
                yield from _tagged(RECORDINGS, rows, self._large_buckets)
            elif table in (SPEAKERS, GENDERS) and GENDERS in self._tables:
                yield from _tagged(SPEAKER_ROWS, rows, self._large_buckets)
            elif table == WAVS:
                yield from _keyed(whole_recordings(rows), self._buckets)
            elif table == SPEAKERS:
                yield from _keyed(name_speakers(rows), self._buckets)
            elif table != GENDERS:
                yield from _keyed(rows, self._buckets)
            yield from self.report([item for item in some if isinstance(item, Refused)], 0, began)
            began = time.perf_counter()


class _Assemble(Reading):
    def __init__(self, reader: Kaldi, job: Job, text_file: Any, tables: frozenset[str]):
        super().__init__(reader, job)
        self._text_file, self._tables = text_file, tables

    def process(self, keyed: tuple[int, Iterable[Packed]]) -> Iterator[Any]:
        began = time.perf_counter()
        records = list(assemble(_Rows(keyed[1]), self._text_file, self._tables))
        parts = math.ceil(len(records) / self._reader.records_per_batch)
        size = math.ceil(len(records) / max(1, parts))
        for begin in range(0, len(records), max(1, size)):
            yield from self.sort_out(records[begin : begin + size], began)
            began = time.perf_counter()


class Packed:
    """Rows as one pickle: half the bytes of rows one by one, and nothing of them in a log."""

    def __init__(self, rows: list[TableRow]):
        self._content = pickle.dumps(rows, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[TableRow]:
        return iter(pickle.loads(self._content))

    def __repr__(self) -> str:
        return "<Packed: sensitive>"


class _Rows:
    """The rows of a group, to be gone over more than once without holding them."""

    def __init__(self, packs: Iterable[Packed]):
        self._packs = packs

    def __iter__(self) -> Iterator[TableRow]:
        return itertools.chain.from_iterable(self._packs)


def _join(keyed: tuple[int, Iterable[Packed]], join: Any, buckets: int) -> Iterator[Keyed]:
    return _keyed(join(_Rows(keyed[1])), buckets)


def _keyed(rows: Iterable[TableRow], buckets: int) -> Iterator[Keyed]:
    rows = iter(rows)
    while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
        by_bucket: dict[int, list[TableRow]] = {}
        for row in some:
            by_bucket.setdefault(bucket_of(row.key, buckets), []).append(row)
        for bucket, its_rows in by_bucket.items():
            yield bucket, Packed(its_rows)


def _tagged(tag: str, rows: Iterable[TableRow], buckets: int) -> Iterator[beam.pvalue.TaggedOutput]:
    for keyed in _keyed(rows, buckets):
        yield beam.pvalue.TaggedOutput(tag, keyed)
