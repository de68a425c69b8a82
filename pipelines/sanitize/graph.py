"""The graph: read, detect, route, a branch for each sink, write. Everything that happens to a record is in this file's order."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import apache_beam as beam

from sottovoce.models.forget.whose import OwnedFailure
from sottovoce.models.records import CANARY, Failure, Source
from sottovoce.models.runs.places import FAILURES
from sottovoce.models.tally import Tally
from sottovoce.models.text.rewrite import NONE
from sottovoce.transforms.engine.hints import gpu_hints
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import TALLY, is_invented, scrub_errors, uncounted
from sottovoce.transforms.nightly.forgotten import LeaveForgotten
from sottovoce.transforms.nightly.recognise import OnlyRecognisable
from sottovoce.transforms.nightly.speaker_budget import ChargeSpeakers
from sottovoce.transforms.nightly.taken import RememberTaken, SkipTaken
from sottovoce.transforms.nightly.taken_before import HoldBackTaken
from sottovoce.transforms.read.read_corpus import Corpus, ReadCorpus
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.sinks.route import RouteDialogues
from sottovoce.transforms.speech.transcribe import TranscribeUtterances
from sottovoce.transforms.text.crowd import ReleaseCrowd, releases_templates
from sottovoce.transforms.text.stages import (
    AddLabelledSlots,
    DetectEntities,
    IndexLabelledSlots,
    KnowLanguage,
    known_languages,
)
from sottovoce.transforms.text.value_distribution import CountValues, counting_of
from sottovoce.transforms.write.canaries import SetCanariesApart, of_the_corpus
from sottovoce.transforms.write.rows import Row, to_row
from sottovoce.transforms.write.shards import WriteShards, write_then_rename

Follow = Callable[..., Any]  # (outputs of a stage, its sink) -> what passed; failures and tallies are collected


def build_graph(pipeline: beam.Pipeline, job: Job, corpus: Corpus) -> None:
    """The whole pipeline of a run, from reading to shards, tables of failures and tally; it does not commit."""
    failures: list[Any] = []
    tallies: list[Any] = []

    def follow(outputs: Any, sink: str = "") -> Any:
        failures.extend((sink, batches) for batches in outputs.failures)
        tallies.extend(outputs.tallies)
        return outputs.passed

    batches = _take_in(pipeline, job, corpus, follow, tallies)
    known = known_languages(job, "detect")
    detected = _find(batches, job, corpus, follow, tallies)
    if job.rewrite.name == NONE and counting_of(job.replace) is not None:
        job = dataclasses.replace(
            job, corpus_values=_of_the_corpus(detected, job, "counted") | "CountValues" >> CountValues(job)
        )
    routed = detected | "Route" >> RouteDialogues(job.sinks, job.secret)
    tallies.append(routed[TALLY])
    texts = {sink: routed[sink] for sink in job.sinks}
    if releases_templates(job.rewrite):
        crowd = texts | "Crowd" >> ReleaseCrowd(job, sum(file.size for file in corpus.files))
        texts = {sink: follow(outputs, sink) for sink, outputs in crowd.items()}
    for sink in job.sinks:
        _write_sink(sink, texts[sink], job, known, follow)
    tallies.append(_write_failures(failures, job))
    _write_tally(tallies, job)
    scrub_errors(pipeline)


def _take_in(pipeline: beam.Pipeline, job: Job, corpus: Corpus, follow: Follow, tallies: list[Any]) -> Any:
    """Batches of what this run may use: nobody forgotten, no dialogue taken before; the canaries go along."""
    read = pipeline | "Read" >> ReadCorpus(corpus, job)
    if job.forgotten:
        tallies.extend(read.tallies)
        read = (read.passed, *read.failures) | "LeaveForgotten" >> LeaveForgotten(job)
    batches = follow(read)
    if job.nightly or (job.taken and not job.take_again):
        batches = follow(batches | "Recognise" >> OnlyRecognisable(job))
    if job.nightly:
        batches = follow(batches | "SkipTaken" >> SkipTaken(job, corpus.records))
    elif job.taken:
        batches = follow(batches | "HoldBackTaken" >> HoldBackTaken(job))
    tallies.append(batches | "RememberTaken" >> RememberTaken(job, corpus.records) | "Taken" >> beam.Map(uncounted))
    if recogniser := job.audio.recogniser:
        batches = follow(batches | "Transcribe" >> TranscribeUtterances(job, recogniser))
    if job.canaries:
        batches = (batches, pipeline | "Canaries" >> beam.Create(job.canaries)) | "MixIn" >> beam.Flatten()
    return batches


def _find(batches: Any, job: Job, corpus: Corpus, follow: Follow, tallies: list[Any]) -> Any:
    """The batches with their spans, indexed for `sottovoce forget`; a night charges each speaker for theirs."""
    batches = follow(batches | "KnowLanguage" >> KnowLanguage(job, "detect"))
    hints = gpu_hints(job, job.detect)
    detected = follow(batches | "Detect" >> DetectEntities(job).with_resource_hints(**hints))
    if job.forget:
        own = _of_the_corpus(detected, job, "indexed")
        indexed = own | "IndexSlots" >> IndexLabelledSlots(job, corpus.records)
        tallies.append(indexed | "SlotsIndexed" >> beam.Map(uncounted))
    detected = follow(detected | "LabelledSlots" >> AddLabelledSlots(job).with_resource_hints(**hints))
    if job.nightly:
        own = _of_the_corpus(detected, job, "charged")
        charged = follow(own | "ChargeSpeakers" >> ChargeSpeakers(job, corpus.records))
        detected = _with_canaries(charged, detected, job)
    return detected


def _write_sink(sink: str, texts: Any, job: Job, known: frozenset[str] | None, follow: Follow) -> None:
    """`known` are the languages that have passed so far."""
    branch = sink_class(sink)
    also = known_languages(job, *branch.mechanisms)
    if also is not None and not (known is not None and known <= also):  # a stage of this sink knows fewer
        texts = follow(texts | f"KnowLanguage {sink}" >> KnowLanguage(job, *branch.mechanisms, sink=sink), sink)
    rows = follow(texts | sink >> branch(job), sink)
    if job.canaries:
        rows = rows | f"SetApart {sink}" >> SetCanariesApart(job.places, sink, branch.record_type, branch.assemble)
    write = WriteShards(job.places, sink, branch.record_type, job.shards[sink], job.secret, branch.assemble, job.forget)
    follow(rows | f"Write {sink}" >> write, sink)


def _of_the_corpus(batches: Any, job: Job, step: str) -> Any:
    """Without canaries: for whatever remembers, charges or counts people."""
    return batches | f"OfTheCorpus {step}" >> beam.Filter(of_the_corpus) if job.canaries else batches


def _with_canaries(batches: Any, mixed: Any, job: Job) -> Any:
    """Again with the canaries among `mixed`."""
    if not job.canaries:
        return batches
    return (batches, mixed | "CanariesAgain" >> beam.Filter(is_invented)) | "MixInAgain" >> beam.Flatten()


def _write_failures(failures: list[tuple[str, Any]], job: Job) -> beam.PCollection:
    """`failures`: with the sink they come from, if any."""
    rows = [
        batches | f"FailureRows {number}" >> beam.Map(_failure_rows, sink)
        for number, (sink, batches) in enumerate(failures)
    ]
    write = WriteShards(job.places, FAILURES, Failure, 1, job.secret, index=job.forget)
    written = rows | "Failures" >> beam.Flatten() | "Write failures" >> write
    return written.passed | "FailuresWritten" >> beam.Map(uncounted)


def _failure_rows(failures: list[OwnedFailure], sink: str) -> list[Row]:
    return [
        to_row(failure.id, Source(failure.file, failure.line), failure.alone(), failure.part._replace(sink=sink))
        for failure in failures
        if failure.file != CANARY
    ]


def _write_tally(tallies: list[Any], job: Job) -> None:
    """The last write of the graph: every other write has put a tally into it. Where it is, the run can be committed."""
    merged = tallies | "Tallies" >> beam.Flatten() | "Merge" >> beam.CombineGlobally(_MergeTallies())
    merged | "WriteTally" >> beam.Map(_write_json, job.places.tally)


def _write_json(tally: Tally, path: str) -> None:
    write_then_rename(path, lambda file: file.write(json.dumps(tally.to_json()).encode()), private=True)


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
