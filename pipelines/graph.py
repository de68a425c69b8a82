"""The graph: read, detect, route, a branch for each sink, write. Everything that happens to a record is in this file's order."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.records import Failure, Source
from sottovoce.models.tally import Tally
from sottovoce.transforms.detect import DetectEntities
from sottovoce.transforms.gpu import gpu_hints
from sottovoce.transforms.job import Job
from sottovoce.transforms.read import Corpus, ReadCorpus
from sottovoce.transforms.route import RouteDialogues
from sottovoce.transforms.rows import Row, to_row
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.speaker_budget import ChargeSpeakers
from sottovoce.transforms.stage import TALLY, uncounted
from sottovoce.transforms.taken import RememberTaken, SkipTaken
from sottovoce.transforms.transcribe import TranscribeUtterances
from sottovoce.transforms.value_distribution import CountValues, counting_of
from sottovoce.transforms.write import WriteShards, write_then_rename

TALLY_FILE = "tally.json"


def build_graph(pipeline: beam.Pipeline, job: Job, corpus: Corpus) -> None:
    failures: list[Any] = []
    tallies: list[Any] = []

    def follow(outputs: Any) -> Any:
        failures.extend(outputs.failures)
        tallies.extend(outputs.tallies)
        return outputs.passed

    batches = follow(pipeline | "Read" >> ReadCorpus(corpus, job))
    if job.nightly:
        batches = follow(batches | "SkipTaken" >> SkipTaken(job))
    tallies.append(batches | "RememberTaken" >> RememberTaken(job, corpus.records) | "Taken" >> beam.Map(uncounted))
    if recogniser := job.audio.recogniser:
        batches = follow(batches | "Transcribe" >> TranscribeUtterances(job, recogniser))
    detected = follow(batches | "Detect" >> DetectEntities(job).with_resource_hints(**gpu_hints(job, job.detect)))
    if job.nightly:
        detected = follow(detected | "ChargeSpeakers" >> ChargeSpeakers(job, corpus.records))
    if counting_of(job.replace) is not None:
        job = dataclasses.replace(job, corpus_values=detected | "CountValues" >> CountValues(job))
    routed = detected | "Route" >> RouteDialogues(job.sinks, job.secret)
    tallies.append(routed[TALLY])
    for sink in job.sinks:
        branch = sink_class(sink)
        rows = follow(routed[sink] | sink >> branch(job))
        assemble = getattr(branch, "assemble", None)
        write = WriteShards(job.run_uri, sink, branch.record_type, job.shards[sink], job.secret, assemble)
        follow(rows | f"Write {sink}" >> write)
    tallies.append(_write_failures(failures, job))
    _write_tally(tallies, job)


def _write_failures(failures: list[Any], job: Job) -> beam.PCollection:
    rows = failures | "Failures" >> beam.Flatten() | "FailureRows" >> beam.Map(_failure_rows)
    written = rows | "Write failures" >> WriteShards(job.run_uri, "failures", Failure, 1, job.secret)
    return written.passed | "FailuresWritten" >> beam.Map(uncounted)


def _failure_rows(failures: list[Failure]) -> list[Row]:
    return [to_row(failure.id, Source(failure.file, failure.line), failure) for failure in failures]


def _write_tally(tallies: list[Any], job: Job) -> None:
    """The last write of the graph: every other write has put a tally into it. Where it is, the run can be committed."""
    path = FileSystems.join(job.run_uri, "_work", TALLY_FILE)
    merged = tallies | "Tallies" >> beam.Flatten() | "Merge" >> beam.CombineGlobally(_MergeTallies())
    merged | "WriteTally" >> beam.Map(_write_json, path)


def _write_json(tally: Tally, path: str) -> None:
    write_then_rename(path, lambda file: file.write(json.dumps(tally.to_json()).encode()))


class _MergeTallies(beam.CombineFn):
    def create_accumulator(self) -> Tally:
        return Tally()

    def add_input(self, accumulator: Tally, tally: Tally) -> Tally:
        return accumulator.merge(tally)

    def merge_accumulators(self, accumulators: Any) -> Tally:
        merged = Tally()
        for accumulator in accumulators:
            merged.merge(accumulator)
        return merged

    def extract_output(self, accumulator: Tally) -> Tally:
        return accumulator
