"""A corpus of which an earlier run of the output has taken some dialogues: all of it is held back, before any of it is used.

A second release of one dialogue, by another job into another sink, could be joined with the first. Keys are counted
first (neither side of the join stands in memory); then either everything goes on or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import PASSED, TALLY, Outputs
from sottovoce.transforms.nightly.state import ReadState, dialogue_key

STAGE = "check taken"  # counts dialogues, not records
TAKEN = "dialogue_taken"


class HoldBackTaken(beam.PTransform):
    """Batches of Utterances -> the same batches, or none. The tally tells how many dialogues were taken before."""

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        """With `--force` (`take_again`) all batches go on, and are counted all the same."""
        job = self._job
        found = batches | "Keys" >> beam.FlatMap(_keys, job.secret)
        taken = batches.pipeline | "Taken" >> ReadState(job.taken)
        parts = (
            {"found": found, "taken": taken}
            | "Join" >> beam.CoGroupByKey()
            | "Compare" >> beam.ParDo(_Compare()).with_outputs(TALLY, main=PASSED)
        )
        if job.take_again:
            return Outputs(batches, (), (parts[TALLY],))
        count = parts[PASSED] | "Count" >> beam.combiners.Count.Globally()
        held = batches | "AllOrNothing" >> beam.FlatMap(_all_or_nothing, beam.pvalue.AsSingleton(count))
        return Outputs(held, (), (parts[TALLY],))


def _keys(batch: Sequence[Utterance], secret: Secret) -> list[tuple[str, None]]:
    dialogues = {utterance.dialogue_id: utterance for utterance in batch}
    return [(dialogue_key(secret, utterance), None) for utterance in dialogues.values()]


class _Compare(beam.DoFn):
    """(dialogue, both sides) -> the dialogue, where both have it. One tally for each bundle."""

    def start_bundle(self) -> None:
        self._tally = Tally()

    def process(self, joined: tuple[str, dict[str, Iterable[Any]]]) -> Iterator[str]:
        key, sides = joined
        if not any(True for _ in sides["found"]):
            return
        taken = any(True for _ in sides["taken"])
        self._tally.merge(Tally.of(STAGE, received=1, passed=int(not taken), reasons=[TAKEN] if taken else []))
        if taken:
            yield key

    def finish_bundle(self) -> Iterator[Any]:
        yield beam.pvalue.TaggedOutput(TALLY, beam.transforms.window.GlobalWindows.windowed_value(self._tally))


def _all_or_nothing(batch: list[Utterance], taken: int) -> list[list[Utterance]]:
    return [] if taken else [batch]
