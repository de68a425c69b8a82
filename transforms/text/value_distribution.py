"""Count the values of a corpus under differential privacy, as combiners: the lists that surrogates are then drawn from.

Bound what each speaker contributes, count, add noise, withhold rare values (`models/text/replace/private_counts.py`). What
comes out is one small mapping, a side input of the replacement; exact counts never leave the workers. The mapping is
written to private state before anybody gets it, once for each run: whoever counts again takes what is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text.replace import CountsCorpus
from sottovoce.models.text.replace.private_counts import (
    Contribution,
    CountSettings,
    Pair,
    gather,
    noisy_count,
    smallest,
)
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.write.shards import write_once


def counting_of(strategy: Spec) -> CountSettings | None:
    """How the corpus must be counted before this strategy can replace; None for most."""
    made = strategy.make()
    return made.counting if isinstance(made, CountsCorpus) else None


class CountValues(beam.PTransform):
    """Batches of Utterances with spans -> one mapping: type -> value -> weight."""

    def __init__(self, job: Job):
        super().__init__()
        settings = counting_of(job.replace)
        assert settings is not None
        self._job, self._settings = job, settings

    def expand(self, batches: beam.PCollection) -> beam.PCollection:
        """A PCollection of one element: the lists of the run, those of an earlier execution where it has kept some."""
        job, settings = self._job, self._settings
        contributions = batches | "Values" >> beam.ParDo(_Contributions(job.replace, job.secret))
        listed: frozenset[Pair] = frozenset()
        if settings.vocabulary == "list":
            listed = frozenset(job.replace.make().listed_values())
            contributions |= "OnlyListed" >> beam.Filter(lambda keyed: keyed[1][1:] in listed)
        if settings.epsilon is None:
            pairs = contributions | "All" >> beam.Map(lambda keyed: (keyed[1][1:], 1))
        else:
            pairs = (
                contributions
                | "BoundEachSpeaker" >> beam.CombinePerKey(BoundContributions(settings.values_per_speaker))
                | "One" >> beam.FlatMap(lambda keyed: [(item[1:], 1) for item in keyed[1]])
            )
        counts = pairs | "Count" >> beam.CombinePerKey(sum)
        if listed:
            gathered = counts | "Gather" >> beam.CombineGlobally(_Gather())
            lists = gathered | "Noise" >> beam.Map(_release_listed, listed, settings, job.secret, job.nonce)
        else:
            released = counts | "Noise" >> beam.FlatMap(_release, settings, job.secret, job.nonce)
            lists = released | "Gather" >> beam.CombineGlobally(_Gather())
        if settings.epsilon is None:
            return lists  # exact counts: there is no noise to keep, and they are nothing to leave lying about
        return lists | "Keep" >> beam.Map(_kept, job.places.lists, job.nonce)


class _Contributions(beam.DoFn):
    """(keyed speaker, (keyed hash, type, value)); a record without a speaker counts by its dialogue."""

    def __init__(self, strategy: Spec, secret: Secret):
        self._spec, self._secret = strategy, secret

    def setup(self) -> None:
        members.load(self._spec)

    def process(self, batch: Sequence[Utterance]) -> Iterator[tuple[bytes, Contribution]]:
        strategy = members.load(self._spec).member
        for utterance in batch:
            if utterance.replace_always:
                continue  # beyond the speaker's budget: not counted, so that it costs nothing
            unit = ("speaker", utterance.speaker_id) if utterance.speaker_id else ("dialogue", utterance.dialogue_id)
            speaker = self._secret.digest("count speaker", *unit)[:16]
            for type_, value in set(strategy.values_of(utterance)):
                yield speaker, (self._secret.digest("count choice", *unit, type_, value)[:16], type_, value)


class BoundContributions(beam.CombineFn):
    """At most `limit` different contributions of one speaker, however many they bring: memory stays the same."""

    def __init__(self, limit: int):
        self._limit = limit

    def create_accumulator(self) -> list[Contribution]:
        """Empty; one speaker may have several, until they are merged."""
        return []

    def add_input(self, accumulator: list[Contribution], contribution: Contribution) -> list[Contribution]:
        """Cut back only above four times the limit, so that not every value is sorted in."""
        accumulator.append(contribution)
        return smallest(accumulator, self._limit) if len(accumulator) > 4 * self._limit else accumulator

    def merge_accumulators(self, accumulators: Iterable[list[Contribution]]) -> list[Contribution]:
        """The choice is by keyed hash, so the order of merging does not matter."""
        return smallest((item for accumulator in accumulators for item in accumulator), self._limit)

    def extract_output(self, accumulator: list[Contribution]) -> list[Contribution]:
        """Sorted by keyed hash, each once, at most `limit`."""
        return smallest(accumulator, self._limit)


def _release(
    counted: tuple[Pair, int], settings: CountSettings, secret: Secret, nonce: str
) -> Iterator[tuple[Pair, float]]:
    pair, count = counted
    weight = noisy_count(pair, count, settings, secret, nonce)
    if weight is not None:
        yield pair, weight


def _release_listed(
    counts: dict[str, dict[str, float]], listed: Iterable[Pair], settings: CountSettings, secret: Secret, nonce: str
) -> dict[str, dict[str, float]]:
    """Every listed value, said or not."""
    found = (((type_, value), int(counts.get(type_, {}).get(value, 0))) for type_, value in listed)
    return gather(released for counted in found for released in _release(counted, settings, secret, nonce))


def _kept(lists: dict[str, dict[str, float]], place: str, nonce: str) -> dict[str, dict[str, float]]:
    """The lists of the run: these, or those that an earlier execution has put there."""
    content = write_once(place, json.dumps({"nonce": nonce, "lists": lists}).encode())
    return json.loads(content)["lists"]


class _Gather(beam.CombineFn):
    def create_accumulator(self) -> list[tuple[Pair, float]]:
        return []

    def add_input(self, accumulator: list[Any], released: tuple[Pair, float]) -> list[Any]:
        accumulator.append(released)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[list[Any]]) -> list[Any]:
        return [item for accumulator in accumulators for item in accumulator]

    def extract_output(self, accumulator: list[tuple[Pair, float]]) -> dict[str, dict[str, float]]:
        return gather(accumulator)
