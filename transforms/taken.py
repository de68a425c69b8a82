"""Leave out the dialogues that an earlier run has taken. A join in the graph: neither side stands in memory.

The rule for a dialogue that grew: it stays as it was released. Its new turns are withheld and counted, because a second
release of one dialogue would show which records belong together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import PASSED, TALLY, Outputs
from sottovoce.transforms.state import DIALOGUES, ReadState, WriteState, dialogue_key

DIALOGUES_PER_TABLE = 200_000


class RememberTaken(beam.PTransform):
    """Write down, by keyed hash, which dialogues this run takes."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // DIALOGUES_PER_TABLE

    def expand(self, batches: beam.PCollection) -> beam.PCollection:
        pairs = batches | "Count" >> beam.Map(_count_turns, self._job.secret)
        return pairs | WriteState(self._job.run_uri, "dialogues", DIALOGUES, self._shards)


def _count_turns(batch: Sequence[Utterance], secret: Secret) -> list[tuple[str, tuple[int]]]:
    turns = Counter(utterance.dialogue_id for utterance in batch)
    first = {utterance.dialogue_id: utterance for utterance in batch}
    return [(dialogue_key(secret, first[dialogue]), (count,)) for dialogue, count in turns.items()]


class SkipTaken(beam.PTransform):
    """Batches of Utterances -> batches of those whose dialogue no earlier run has taken."""

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        job = self._job
        found = batches | "ByDialogue" >> beam.FlatMap(_by_dialogue, job.secret)
        taken = batches.pipeline | "Taken" >> ReadState(job.taken)
        parts = (
            {"found": found, "taken": taken}
            | "Join" >> beam.CoGroupByKey()
            | "KeepNew" >> beam.ParDo(_KeepNew(job.input.records_per_batch)).with_outputs(TALLY, main=PASSED)
        )
        return Outputs(parts[PASSED], (), (parts[TALLY],))


def _by_dialogue(batch: Sequence[Utterance], secret: Secret) -> Iterator[tuple[str, list[Utterance]]]:
    dialogues: dict[str, list[Utterance]] = {}
    for utterance in batch:
        dialogues.setdefault(utterance.dialogue_id, []).append(utterance)
    for turns in dialogues.values():
        yield dialogue_key(secret, turns[0]), turns


class _KeepNew(beam.DoFn):
    """Batches again what is new: the steps that follow like their batches full."""

    def __init__(self, records_per_batch: int):
        self._records_per_batch = records_per_batch

    def start_bundle(self) -> None:
        self._waiting: list[Utterance] = []

    def process(self, joined: tuple[str, dict[str, Iterable[Any]]]) -> Iterator[Any]:
        turns = [turn for batch in joined[1]["found"] for turn in batch]
        taken = [number for (number,) in joined[1]["taken"]]
        if not turns:
            return
        reason = "dialogue_grew" if len(turns) > sum(taken) else "dialogue_taken"
        withheld = [reason] * len(turns) if taken else []
        yield beam.pvalue.TaggedOutput(
            TALLY, Tally.of("skip taken", received=len(turns), passed=len(turns) - len(withheld), reasons=withheld)
        )
        if not taken:
            self._waiting += sorted(turns, key=lambda turn: (turn.source.file, turn.source.line))
        if len(self._waiting) >= self._records_per_batch:
            yield self._waiting
            self._waiting = []

    def finish_bundle(self) -> Iterator[Any]:
        if self._waiting:
            yield beam.transforms.window.GlobalWindows.windowed_value(self._waiting)
            self._waiting = []
