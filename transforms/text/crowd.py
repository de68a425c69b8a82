"""Crowd release as combiners: bound what each speaker contributes, count speakers, add noise, fill what may go out.

The mathematics stands in `models/text/rewrite/crowd.py` and `ladder.py`. All sinks are counted together, so that a speaker who is
in several of them pays once. What is released is written to private state before anybody gets it, in shards, and whoever executes
the run again takes what is there: fresh noise on the same counts would be a second release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text.replace.private_counts import CountSettings, Pair, noisy_count
from sottovoce.models.text.rewrite import Count, ReleasesTemplates
from sottovoce.models.text.rewrite.release import (
    PARTS,
    Said,
    added,
    chosen,
    filled,
    is_said,
    keep,
    lists_in,
    said_of,
)
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Outputs, Stage, Step
from sottovoce.transforms.write.shards import write_once

BYTES_PER_SHARD = 1 << 22  # of the corpus: some 20,000 utterances
Weighed = tuple[Pair, float]


def releases_templates(rewriter: Spec) -> bool:
    """Whether the member releases what a crowd said, in place of each utterance rewritten by itself."""
    return isinstance(rewriter.make(), ReleasesTemplates)


class ReleaseCrowd(beam.PTransform):
    """{sink: batches of Utterances} -> {sink: Outputs}, whose `passed` are batches of records that belong to nobody."""

    def __init__(self, job: Job, corpus_bytes: int):
        """What is kept stands in the shard of its key, so all executions of a run must have as many: the size of the corpus is in
        the name of the run, how many records it is thought to have is not."""
        super().__init__()
        self._job, self._shards = job, 1 + corpus_bytes // BYTES_PER_SHARD

    def expand(self, routed: Mapping[str, beam.PCollection]) -> dict[str, Outputs]:
        """Count after count, each knowing what those before it released; failures and tallies are of taking templates."""
        job, crowd = self._job, self._job.rewrite.make()
        taken = {sink: routed[sink] | f"Templates {sink}" >> TakeTemplates(job, sink) for sink in job.sinks}
        own = (
            [outputs.passed for outputs in taken.values()]
            | "AllSinks" >> beam.Flatten()
            | "BySpeaker" >> beam.FlatMap(lambda batch: batch)
            | "BoundEachSpeaker" >> beam.CombinePerKey(_Chosen(crowd.utterances_per_speaker))
        )
        nothing = own.pipeline | "NothingYet" >> beam.Create([], reshuffle=False)
        released: list[beam.PCollection] = []
        parts = nothing
        for count in crowd.counts():
            known = (
                (released or [nothing])
                | f"Before {count.name}" >> beam.Flatten()
                | f"Known {count.name}" >> beam.CombineGlobally(_Keys())
            )
            added = own | f"Added {count.name}" >> beam.FlatMap(_added, count.name, beam.pvalue.AsSingleton(known))
            released.append(self._released(added, count))
            if count.name == PARTS:
                parts = released[-1]
        known_lists = parts | "Gather" >> beam.CombineGlobally(_Lists())
        filled = (
            released
            | "AllRungs" >> beam.Flatten()
            | "Said" >> beam.Filter(lambda weighed: is_said(weighed[0]))
            | "Spread" >> beam.Reshuffle()
            | "Fill" >> beam.ParDo(_Fill(job), beam.pvalue.AsSingleton(known_lists)).with_outputs(*job.sinks)
        )
        return {sink: outputs._replace(passed=filled[sink]) for sink, outputs in taken.items()}

    def _released(self, added: beam.PCollection, count: Count) -> beam.PCollection:
        """(what a speaker adds, 1) -> what is released of the counts: (pair, weight)."""
        job = self._job
        weighed = (
            added
            | f"Count {count.name}" >> beam.CombinePerKey(sum)
            | f"Noise {count.name}" >> beam.FlatMap(_weigh, count.settings, job.secret, job.nonce, self._shards)
        )
        # Every shard is there, whether or not anything is released into it: an earlier execution may have filled it.
        empty = added.pipeline | f"Shards {count.name}" >> beam.Create([(n, []) for n in range(self._shards)])
        return (
            (weighed, empty)
            | f"WithEmpty {count.name}" >> beam.Flatten()
            | f"ByShard {count.name}" >> beam.GroupByKey()
            | f"Keep {count.name}" >> beam.FlatMap(_kept, job.places.crowd(count.name), job.nonce)
        )


class TakeTemplates(Stage):
    """Batches of Utterances -> pairs of a keyed speaker and what the utterance adds to each count."""

    def __init__(self, job: Job, sink: str):
        super().__init__(_Template(job.rewrite, sink, job.secret), job)


class _Template(Step):
    name = "rewrite"

    def __init__(self, rewriter: Spec, sink: str, secret: Secret):
        self._spec, self._sink, self._secret = rewriter, sink, secret

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, utterance: Utterance) -> tuple[bytes, Said]:
        return said_of(members.load(self._spec).member, utterance, self._sink, self._secret)


class _Chosen(beam.CombineFn):
    """At most `limit` utterances of one speaker, however many there are: never more are held."""

    def __init__(self, limit: int):
        self._limit = limit

    def create_accumulator(self) -> dict[bytes, bytes]:
        return {}

    def add_input(self, accumulator: dict[bytes, bytes], said: Said) -> dict[bytes, bytes]:
        keep(accumulator, said, self._limit)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[dict[bytes, bytes]]) -> dict[bytes, bytes]:
        return dict(chosen((said for own in accumulators for said in own.items()), self._limit))

    def extract_output(self, accumulator: dict[bytes, bytes]) -> list[Said]:
        return sorted(accumulator.items())


def _added(keyed: tuple[bytes, list[Said]], count: str, released: frozenset[Pair]) -> list[tuple[Pair, int]]:
    return [(pair, 1) for pair in sorted(added(keyed[1], count, released))]


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
    """(pair, weight) and the released lists -> batches of records for the sink of the pair."""

    def __init__(self, job: Job):
        self._spec, self._secret, self._size = job.rewrite, job.secret, job.input.records_per_batch

    def setup(self) -> None:
        members.load(self._spec)

    def process(self, weighed: Weighed, lists: dict[str, dict[str, float]]) -> Iterator[Any]:
        ((kind, template), weight), loaded = weighed, members.load(self._spec)
        with loaded.lock:
            records = filled(loaded.member, (kind, template), weight, lists, self._secret)
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
        return lists_in(accumulator)
