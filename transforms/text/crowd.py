"""Crowd release as combiners: bound what each speaker contributes, count speakers, add noise, fill what may go out.

The mathematics stands in `models/text/rewrite/crowd.py`. All sinks are counted together, so that a speaker who is in several of
them pays once. What is released is written to private state before anybody gets it, in shards, and whoever executes the run
again takes what is there: fresh noise on the same counts would be a second release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text.replace.private_counts import Contribution, CountSettings, Pair, gather, noisy_count
from sottovoce.models.text.rewrite import Count, ReleasesTemplates
from sottovoce.models.text.rewrite.release import contribution, filled, speaker_of
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Outputs, Stage, Step
from sottovoce.transforms.text.value_distribution import BoundContributions
from sottovoce.transforms.write.shards import write_once

RELEASED_PER_SHARD = 20_000
Weighed = tuple[Pair, float]


def releases_templates(rewriter: Spec) -> bool:
    return isinstance(rewriter.make(), ReleasesTemplates)


@dataclass(frozen=True, slots=True, repr=False)
class Said:
    """One utterance as it is counted: whose it is (keyed), where it would go, and its templates by rung."""

    speaker: bytes
    sink: str
    templates: dict[str, str]
    values: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return "<Said: sensitive>"


class ReleaseCrowd(beam.PTransform):
    """{sink: batches of Utterances} -> {sink: Outputs}, whose `passed` are batches of records that belong to nobody."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // RELEASED_PER_SHARD

    def expand(self, routed: Mapping[str, beam.PCollection]) -> dict[str, Outputs]:
        job, crowd = self._job, self._job.rewrite.make()
        taken = {sink: routed[sink] | f"Templates {sink}" >> TakeTemplates(job, sink) for sink in job.sinks}
        said = [outputs.passed for outputs in taken.values()] | "AllSinks" >> beam.Flatten()
        values = said.pipeline | "NoValues" >> beam.Create([{}])
        if count := crowd.of_values:
            contributions = said | "Values" >> beam.FlatMap(_values, job.secret)
            values = self._released(contributions, count) | "GatherValues" >> beam.CombineGlobally(_Lists())
        released: list[beam.PCollection] = []
        for count in crowd.rungs():
            before = released or [said.pipeline | "NothingYet" >> beam.Create([], reshuffle=False)]
            known = (
                before
                | f"Before {count.name}" >> beam.Flatten()
                | f"Known {count.name}" >> beam.CombineGlobally(_Keys())
            )
            contributions = said | f"Rung {count.name}" >> beam.FlatMap(
                _templates, count.name, job.secret, beam.pvalue.AsSingleton(known)
            )
            released.append(self._released(contributions, count))
        filled = (
            released
            | "AllRungs" >> beam.Flatten()
            | "Spread" >> beam.Reshuffle()
            | "Fill" >> beam.ParDo(_Fill(job), beam.pvalue.AsSingleton(values)).with_outputs(*job.sinks)
        )
        return {sink: outputs._replace(passed=filled[sink]) for sink, outputs in taken.items()}

    def _released(self, contributions: beam.PCollection, count: Count) -> beam.PCollection:
        """(speaker, contribution) -> what is released of their counts: (pair, weight)."""
        job, settings = self._job, count.settings
        weighed = (
            contributions
            | f"BoundEachSpeaker {count.name}" >> beam.CombinePerKey(BoundContributions(settings.values_per_speaker))
            | f"One {count.name}" >> beam.FlatMap(lambda keyed: [(item[1:], 1) for item in keyed[1]])
            | f"Count {count.name}" >> beam.CombinePerKey(sum)
            | f"Noise {count.name}" >> beam.FlatMap(_weigh, settings, job.secret, job.nonce, self._shards)
        )
        # Every shard is there, whether or not anything is released into it: an earlier execution may have filled it.
        empty = contributions.pipeline | f"Shards {count.name}" >> beam.Create([(n, []) for n in range(self._shards)])
        return (
            (weighed, empty)
            | f"WithEmpty {count.name}" >> beam.Flatten()
            | f"ByShard {count.name}" >> beam.GroupByKey()
            | f"Keep {count.name}" >> beam.FlatMap(_kept, job.places.crowd(count.name), job.nonce)
        )


class TakeTemplates(Stage):
    def __init__(self, job: Job, sink: str):
        super().__init__(_Template(job.rewrite, sink, job.secret), job)


class _Template(Step):
    name = "rewrite"

    def __init__(self, rewriter: Spec, sink: str, secret: Secret):
        self._spec, self._sink, self._secret = rewriter, sink, secret

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, utterance: Utterance) -> Said:
        crowd = members.load(self._spec).member
        values = tuple(crowd.values(utterance)) if crowd.of_values else ()
        return Said(speaker_of(self._secret, utterance), self._sink, crowd.templates(utterance, self._sink), values)


def _values(batch: Sequence[Said], secret: Secret) -> Iterator[tuple[bytes, Contribution]]:
    for said in batch:
        for slot, value in said.values:
            yield said.speaker, contribution(secret, said.speaker, slot, value)


def _templates(
    batch: Sequence[Said], rung: str, secret: Secret, released: frozenset[Pair]
) -> Iterator[tuple[bytes, Contribution]]:
    """Templates of utterances of which no other rung was released before."""
    for said in batch:
        pairs = {own: (f"{own}/{said.sink}", template) for own, template in said.templates.items()}
        if rung in pairs and released.isdisjoint(pairs.values()):
            yield said.speaker, contribution(secret, said.speaker, *pairs[rung])


def _weigh(
    counted: tuple[Pair, int], settings: CountSettings, secret: Secret, nonce: str, shards: int
) -> Iterator[tuple[int, list[Weighed]]]:
    pair, count = counted
    weight = noisy_count(pair, count, settings, secret, nonce)
    if weight is not None:
        yield int.from_bytes(secret.digest("crowd shard", *pair)[:4], "big") % shards, [(pair, weight)]


def _kept(keyed: tuple[int, Iterable[list[Weighed]]], place: str, nonce: str) -> list[Weighed]:
    shard, parts = keyed
    weighed = sorted(item for part in parts for item in part)
    content = write_once(f"{place}-{shard:05d}.json", json.dumps({"nonce": nonce, "released": weighed}).encode())
    return [((kind, value), weight) for (kind, value), weight in json.loads(content)["released"]]


class _Fill(beam.DoFn):
    """(pair, weight) and the released values -> batches of records for the sink of the pair."""

    def __init__(self, job: Job):
        self._spec, self._secret, self._size = job.rewrite, job.secret, job.input.records_per_batch

    def setup(self) -> None:
        members.load(self._spec)

    def process(self, weighed: Weighed, values: dict[str, dict[str, float]]) -> Iterator[Any]:
        ((kind, template), weight), loaded = weighed, members.load(self._spec)
        with loaded.lock:
            records = filled(loaded.member, (kind, template), weight, values, self._secret)
        sink = kind.partition("/")[2]
        for begin in range(0, len(records), self._size):
            yield beam.pvalue.TaggedOutput(sink, records[begin : begin + self._size])


class _Keys(beam.CombineFn):
    def create_accumulator(self) -> set[Pair]:
        return set()

    def add_input(self, accumulator: set[Pair], weighed: Weighed) -> set[Pair]:
        accumulator.add(weighed[0])
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[set[Pair]]) -> set[Pair]:
        return set().union(*accumulators)

    def extract_output(self, accumulator: set[Pair]) -> frozenset[Pair]:
        return frozenset(accumulator)


class _Lists(beam.CombineFn):
    def create_accumulator(self) -> list[Weighed]:
        return []

    def add_input(self, accumulator: list[Weighed], weighed: Weighed) -> list[Weighed]:
        accumulator.append(weighed)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[list[Weighed]]) -> list[Weighed]:
        return [item for accumulator in accumulators for item in accumulator]

    def extract_output(self, accumulator: list[Weighed]) -> dict[str, dict[str, float]]:
        return gather(accumulator)
