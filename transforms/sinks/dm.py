"""Whole dialogues for dialogue management: the turns in order, under an alias that nothing else uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import DialogueExample, DialogueTurn, Source, Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms.duplicates import keep_first
from sottovoce.transforms.job import Job
from sottovoce.transforms.replace import ReplaceEntities
from sottovoce.transforms.rows import Row, origin_of, to_row
from sottovoce.transforms.stage import FAILURES, PASSED, TALLY, Outputs


@dataclass(frozen=True, slots=True)
class _Turn:
    """One replaced turn on its way through the shuffle: safe text, and the keyed origin that tells copies apart."""

    origin: str
    source: Source
    number: int
    turn: DialogueTurn
    language: str | None


class DialogueSink(beam.PTransform):
    record_type = DialogueExample
    needs_audio = False
    rows_per_shard = 10_000
    stages = "replace -> regroup"

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        job = self._job
        replaced = batches | ReplaceEntities(job)
        parts = (
            replaced.passed
            | "ByDialogue" >> beam.FlatMap(_by_dialogue, job.secret)
            | "Regroup" >> beam.GroupByKey()
            | "Assemble" >> beam.ParDo(_Assemble(job.secret)).with_outputs(FAILURES, TALLY, main=PASSED)
        )
        return Outputs(parts[PASSED], (*replaced.failures, parts[FAILURES]), (*replaced.tallies, parts[TALLY]))


def _by_dialogue(replaced: list[Utterance], secret: Secret) -> Iterator[tuple[str, list[_Turn]]]:
    dialogues: dict[str, list[_Turn]] = {}
    for utterance in replaced:
        turn = DialogueTurn(utterance.text, utterance.intent, utterance.slots)
        dialogues.setdefault(utterance.dialogue_id, []).append(
            _Turn(origin_of(secret, utterance), utterance.source, utterance.turn, turn, utterance.language)
        )
    for dialogue_id, turns in dialogues.items():
        yield secret.token("dialogue alias", dialogue_id), turns


class _Assemble(beam.DoFn):
    def __init__(self, secret: Secret):
        self._secret = secret

    def process(self, keyed: tuple[str, Iterable[list[_Turn]]]) -> Iterator[Any]:
        alias, batches = keyed
        turns = {(turn.origin, turn.source): turn for batch in batches for turn in batch}
        rows = [Row(turn.origin, turn.source, {}) for turn in turns.values()]
        kept, failures = keep_first(rows, self._secret, "regroup")
        ordered = sorted(
            (turns[row.origin, row.source] for row in kept), key=lambda t: (t.number, t.source.file, t.source.line)
        )
        numbers = {turn.number for turn in ordered}
        example = DialogueExample(
            id=alias,
            turns=tuple(turn.turn for turn in ordered),
            missing_turns=max(numbers) - min(numbers) + 1 - len(numbers),
            language=ordered[0].language,
        )
        yield [to_row(alias, ordered[0].source, example)]
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        reasons = [failure.reason for failure in failures]
        yield beam.pvalue.TaggedOutput(
            TALLY, Tally.of("regroup", received=len(rows), passed=len(kept), reasons=reasons)
        )
