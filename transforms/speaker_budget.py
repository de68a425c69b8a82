"""Charge each speaker for what replacement reveals, over all nights, and stop at the budget.

A speaker's cost is the sum of the epsilons of the units that randomised response answered for; draws are permanent and a
dialogue is taken once, so nothing is charged twice. Speech sinks remove their sensitive words and cost nothing here. A
night that counts its corpus for lists of surrogates (`value_distribution.py`) charges each speaker whose values it counts
once, whatever the sink: every night releases lists of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.route import choose_sink
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.stage import FAILURES, PASSED, TALLY, Outputs, uncounted, utterance_failure
from sottovoce.transforms.state import SPEAKERS, ReadState, WriteState, speaker_key
from sottovoce.transforms.value_distribution import counting_of

STAGE, CHARGES = "budget", "charges"
SPEAKERS_PER_TABLE = 200_000


class BudgetUsedUp(Refusal):
    code = "speaker_budget_used_up"
    allowed = "speakers whose budget over all nights is not used up"


class ChargeSpeakers(beam.PTransform):
    """Detected batches -> batches within budget; what is beyond it is withheld, or marked to be replaced always."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // SPEAKERS_PER_TABLE

    def expand(self, batches: beam.PCollection) -> Outputs:
        job = self._job
        found = batches | "BySpeaker" >> beam.FlatMap(_by_speaker, job.secret)
        spent = batches.pipeline | "Spent" >> ReadState(job.spent)
        parts = (
            {"found": found, "spent": spent}
            | "Join" >> beam.CoGroupByKey()
            | "Charge" >> beam.ParDo(_Charge(job)).with_outputs(FAILURES, TALLY, CHARGES, main=PASSED)
        )
        remembered = parts[CHARGES] | "Remember" >> WriteState(job.run_uri, "speakers", SPEAKERS, self._shards)
        return Outputs(
            parts[PASSED], (parts[FAILURES],), (parts[TALLY], remembered | "Remembered" >> beam.Map(uncounted))
        )


def _by_speaker(batch: Sequence[Utterance], secret: Secret) -> Iterator[tuple[str, list[Utterance]]]:
    speakers: dict[str, list[Utterance]] = {}
    for utterance in batch:
        speakers.setdefault(speaker_key(secret, utterance), []).append(utterance)
    yield from speakers.items()


class _Charge(beam.DoFn):
    def __init__(self, job: Job):
        self._job = job
        counting = counting_of(job.replace)
        self._counting_epsilon = counting.spent[0] if counting else 0.0

    def setup(self) -> None:
        members.load(self._job.replace)

    def process(self, joined: tuple[str, dict[str, Iterable[Any]]]) -> Iterator[Any]:
        key, sides = joined
        # The order decides who is within budget, so it must not depend on the runner.
        turns = sorted(
            (turn for batch in sides["found"] for turn in batch),
            key=lambda turn: (turn.source.file, turn.source.line),
        )
        if not turns:
            return
        spent = sum(epsilon for epsilon, _ in sides["spent"])
        passed, failures, charged, units = [], [], 0.0, 0
        counting_epsilon = self._counting_epsilon
        for turn in turns:
            counted = counting_epsilon > 0 and self._is_counted(turn)
            cost = self._cost(turn) + (counting_epsilon if counted else 0.0)
            if spent + charged + cost <= self._job.speaker_epsilon:
                charged += cost
                units += cost > 0
                counting_epsilon = 0.0 if counted else counting_epsilon
                passed.append(turn)
            elif self._job.beyond_budget == "replace_always":
                passed.append(dataclasses.replace(turn, replace_always=True))
            else:
                failures.append(utterance_failure(self._job.secret, STAGE, turn, BudgetUsedUp()))
        yield from self._outputs(key, turns, passed, failures, charged, units)

    def _outputs(
        self, key: str, turns: list[Any], passed: list[Any], failures: list[Any], charged: float, units: int
    ) -> Iterator[Any]:
        if passed:
            yield passed
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        if charged:
            yield beam.pvalue.TaggedOutput(CHARGES, [(key, (charged, units))])
        reasons = [failure.reason for failure in failures]
        yield beam.pvalue.TaggedOutput(TALLY, Tally.of(STAGE, received=len(turns), passed=len(passed), reasons=reasons))

    def _cost(self, turn: Utterance) -> float:
        sink = choose_sink(self._job.secret, turn.dialogue_id, self._job.sinks)
        if sink_class(sink).needs_audio:
            return 0.0
        loaded = members.load(self._job.replace)
        with loaded.lock:
            return loaded.member.cost(turn)

    def _is_counted(self, turn: Utterance) -> bool:
        loaded = members.load(self._job.replace)
        with loaded.lock:
            return any(True for _ in loaded.member.values_of(turn))
