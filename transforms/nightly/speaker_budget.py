"""Charge each speaker for what replacement reveals, over all nights, and stop at the budget.

A speaker's cost is the sum of the epsilons of the units that randomised response answered for; draws are permanent and a
dialogue is taken once, so nothing is charged twice. Speech sinks remove their sensitive words and cost nothing here. A
night that counts its corpus for lists of surrogates (`value_distribution.py`) charges each speaker whose values it counts
once, whatever the sink: every night releases lists of its own. So does a night that releases what a crowd said (`crowd.py`):
it charges each speaker its whole epsilon once, for all that they said that night.

A dialogue is within the budget or beyond it as a whole, with the turns of all its speakers: an entity that is kept in one
turn and replaced in another is given away by the difference (`models/text/replace/surrogate.py`). So each speaker says, in the
order of the corpus, which of their dialogues they can afford; a dialogue that one of them cannot afford is beyond, and
charged to nobody. That depends on the lists that values belong to and never on the values, so it tells nothing of them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.tally import Tally
from sottovoce.models.text.rewrite import NONE, ReleasesTemplates
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import FAILURES, PASSED, TALLY, Outputs, uncounted, utterance_failure
from sottovoce.transforms.nightly.state import SPEAKERS, ReadState, WriteState, dialogue_key, speaker_key
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.sinks.route import choose_sink
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.text.value_distribution import counting_of

STAGE, CHARGES, ANSWERS = "budget", "charges", "answers"
SPEAKERS_PER_TABLE = 200_000

Asked = tuple[str, tuple[str, int], dict[str, float], bool]  # dialogue, place, epsilon of each unit, is it counted
Answer = tuple[str, str, float, int, bool]  # dialogue, speaker, epsilon, turns, can the speaker afford it


class BudgetUsedUp(Refusal):
    code = "speaker_budget_used_up"
    allowed = "dialogues of speakers whose budget over all nights is not used up"


class ChargeSpeakers(beam.PTransform):
    """Detected batches -> batches within budget; what is beyond it is withheld, or marked to be replaced always."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // SPEAKERS_PER_TABLE
        self._buckets = max(1, math.ceil(records / job.input.records_per_batch))

    def expand(self, batches: beam.PCollection) -> Outputs:
        """A join by speaker finds who can afford what, one by dialogue decides; charges go to the state of the run."""
        job = self._job
        asked = batches | "Ask" >> beam.ParDo(_Ask(job))
        spent = batches.pipeline | "Spent" >> ReadState(job.spent)
        answered = (
            {"asked": asked, "spent": spent}
            | "BySpeaker" >> beam.CoGroupByKey()
            | "Answer" >> beam.ParDo(_Answer(job, self._buckets)).with_outputs(CHARGES, main=ANSWERS)
        )
        crowd = releases_templates(job.rewrite)
        found = batches | "InBuckets" >> beam.FlatMap(_in_buckets, job.secret, self._buckets, crowd)
        parts = (
            {"found": found, "answers": answered[ANSWERS]}
            | "Join" >> beam.CoGroupByKey()
            | "Decide" >> beam.ParDo(_Decide(job)).with_outputs(FAILURES, TALLY, CHARGES, main=PASSED)
        )
        charges = (answered[CHARGES], parts[CHARGES]) | "Charges" >> beam.Flatten()
        remembered = charges | "Remember" >> WriteState(job.places, "speakers", SPEAKERS, self._shards)
        return Outputs(
            parts[PASSED], (parts[FAILURES],), (parts[TALLY], remembered | "Remembered" >> beam.Map(uncounted))
        )


def decided_together(secret: Secret, utterance: Utterance) -> str:
    """Utterances of one key are within the budget together, or beyond it together."""
    return dialogue_key(secret, utterance)


def decided_alone(secret: Secret, utterance: Utterance) -> str:
    """The same where a crowd is counted: no speaker's part may hang on the budget of another in the dialogue."""
    return secret.token("decided", utterance.dialogue_id, speaker_key(secret, utterance))


def afford(asked: Iterable[Asked], spent: float, budget: float, counting_epsilon: float) -> Iterator[tuple[Any, ...]]:
    """(dialogue, epsilon, turns, can it be afforded, pays for counting) of one speaker, in the order of the corpus."""
    dialogues: dict[str, list[Asked]] = {}
    for one in sorted(asked, key=lambda one: one[1]):  # the order must not depend on the runner
        dialogues.setdefault(one[0], []).append(one)
    for dialogue, turns in dialogues.items():
        epsilon = sum({unit: cost for _, _, costs, _ in turns for unit, cost in costs.items()}.values())
        counting = counting_epsilon if any(counted for *_, counted in turns) else 0.0
        fits = spent + epsilon + counting <= budget
        if fits:
            spent += epsilon + counting
            counting_epsilon -= counting
        yield dialogue, epsilon, len(turns), fits, fits and counting > 0


def _counting_epsilon(job: Job) -> float:
    if job.rewrite.name != NONE:
        rewriter = job.rewrite.make()
        return rewriter.spent[0] if isinstance(rewriter, ReleasesTemplates) else 0.0
    counting = counting_of(job.replace)
    return counting.spent[0] if counting else 0.0


class _Pricing(beam.DoFn):
    def __init__(self, job: Job):
        self._job, self._counting_epsilon = job, _counting_epsilon(job)
        self._crowd = releases_templates(job.rewrite)

    def setup(self) -> None:
        members.load(self._job.replace if self._job.rewrite.name == NONE else self._job.rewrite)

    def together(self, turn: Utterance) -> str:
        return (decided_alone if self._crowd else decided_together)(self._job.secret, turn)

    def price(self, turn: Utterance) -> tuple[dict[str, float], bool]:
        """The epsilon of each unit of the turn, and whether the count of the corpus takes values from it."""
        if self._crowd:
            return {}, True
        if self._job.rewrite.name != NONE:
            name = self._job.secret.token("charged unit", turn.dialogue_id, turn.id)
            return {name: members.load(self._job.rewrite).member.cost()}, False
        loaded = members.load(self._job.replace)
        sink = sink_class(choose_sink(self._job.secret, turn.dialogue_id, self._job.sinks))
        with loaded.lock:
            costs = {} if sink.needs_audio else loaded.member.costs(turn, self._job.secret)
            counted = self._counting_epsilon > 0 and any(True for _ in loaded.member.values_of(turn))
        return costs, counted


class _Ask(_Pricing):
    """(speaker, what one turn asks for); turns that cost nothing ask for nothing."""

    def process(self, batch: Sequence[Utterance]) -> Iterator[tuple[str, Asked]]:
        secret = self._job.secret
        for turn in batch:
            costs, counted = self.price(turn)
            if costs or counted:
                place = (turn.source.file, turn.source.line)
                yield speaker_key(secret, turn), (self.together(turn), place, costs, counted)


class _Answer(beam.DoFn):
    """What one speaker can afford: answers by the bucket of the dialogue, and the charge for being counted.

    That charge stays even where all dialogues that are counted turn out to be beyond another speaker's budget.
    """

    def __init__(self, job: Job, buckets: int):
        self._budget, self._counting_epsilon, self._buckets = job.speaker_epsilon, _counting_epsilon(job), buckets

    def process(self, joined: tuple[str, dict[str, Iterable[Any]]]) -> Iterator[Any]:
        speaker, sides = joined
        spent = sum(epsilon for epsilon, _ in sides["spent"])
        for dialogue, epsilon, turns, fits, counting in afford(
            sides["asked"], spent, self._budget, self._counting_epsilon
        ):
            yield bucket_of(dialogue, self._buckets), (dialogue, speaker, epsilon, turns, fits)
            if counting:
                yield beam.pvalue.TaggedOutput(CHARGES, [((speaker,), (self._counting_epsilon, 0))])


class _Decide(_Pricing):
    """A bucket of whole dialogues -> one batch, its failures, and the charges of the dialogues that are within."""

    def process(self, joined: tuple[int, dict[str, Iterable[Any]]]) -> Iterator[Any]:
        turns = sorted(
            (turn for batch in joined[1]["found"] for turn in batch),
            key=lambda turn: (turn.source.file, turn.source.line),
        )
        answers: list[Answer] = list(joined[1]["answers"])
        beyond = {dialogue for dialogue, *_, fits in answers if not fits}
        passed, failures = [], []
        for turn in turns:
            if self.together(turn) not in beyond:
                passed.append(turn)
            elif self._job.beyond_budget == "replace_always" and self._job.rewrite.name == NONE:
                passed.append(dataclasses.replace(turn, replace_always=True))
            elif any(self.price(turn)):
                failures.append(utterance_failure(self._job.secret, STAGE, turn, BudgetUsedUp()))
            else:  # nothing in it costs anything
                passed.append(turn)
        if passed:
            yield passed
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        yield beam.pvalue.TaggedOutput(
            CHARGES, [((who,), (epsilon, n)) for dialogue, who, epsilon, n, _ in answers if dialogue not in beyond]
        )
        reasons = [failure.reason for failure in failures]
        yield beam.pvalue.TaggedOutput(TALLY, Tally.of(STAGE, received=len(turns), passed=len(passed), reasons=reasons))


def bucket_of(dialogue: str, buckets: int) -> int:
    """From 0; `dialogue` is a keyed hash, so it falls into the same bucket on every runner, and buckets fill evenly."""
    return int(dialogue[:8], 16) % buckets


def _in_buckets(
    batch: Sequence[Utterance], secret: Secret, buckets: int, each_speaker: bool
) -> Iterator[tuple[int, list[Utterance]]]:
    found: dict[int, list[Utterance]] = {}
    for turn in batch:
        key = (decided_alone if each_speaker else decided_together)(secret, turn)
        found.setdefault(bucket_of(key, buckets), []).append(turn)
    yield from found.items()
