"""Whole dialogues for dialogue management: the turns in order, under an alias that nothing else uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apache_beam as beam

from sottovoce.models.randomness import Secret
from sottovoce.models.records import DialogueExample, DialogueTurn, Slot, SluExample, Utterance
from sottovoce.transforms.job import Job
from sottovoce.transforms.replace import ReplaceEntities
from sottovoce.transforms.rows import Row, origin_of, to_row
from sottovoce.transforms.stage import Outputs

TURN = "turn"


class DialogueSink(beam.PTransform):
    record_type = DialogueExample
    needs_audio = False
    rows_per_shard = 10_000
    stages = "replace -> regroup"

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def expand(self, batches: beam.PCollection) -> Outputs:
        replaced = batches | ReplaceEntities(self._job)
        return replaced._replace(passed=replaced.passed | "Turns" >> beam.Map(_turns, self._job.secret))

    @staticmethod
    def assemble(turns: Iterable[Row]) -> list[Row]:
        """Turns of one alias meet in one shard: the shuffle that writing needs regroups the dialogues as well."""
        dialogues: dict[str, list[Row]] = {}
        for turn in turns:
            dialogues.setdefault(turn.columns["id"], []).append(turn)
        return [_dialogue(alias, own) for alias, own in dialogues.items()]


def _turns(replaced: list[Utterance], secret: Secret) -> list[Row]:
    """Each turn as an example of its own, under the alias of its dialogue and with its number."""
    rows = []
    for utterance in replaced:
        alias = secret.token("dialogue alias", utterance.dialogue_id)
        example = SluExample(alias, utterance.text, utterance.intent, utterance.slots, utterance.language)
        rows.append(to_row(origin_of(secret, utterance), utterance.source, example, **{TURN: utterance.turn}))
    return rows


def _dialogue(alias: str, turns: list[Row]) -> Row:
    turns.sort(key=lambda row: (row.columns[TURN], row.source.file, row.source.line))
    numbers = {row.columns[TURN] for row in turns}
    example = DialogueExample(
        id=alias,
        turns=tuple(_turn(row.columns) for row in turns),
        missing_turns=max(numbers) - min(numbers) + 1 - len(numbers),
        language=turns[0].columns["language"],
    )
    return to_row(alias, turns[0].source, example)


def _turn(columns: dict[str, Any]) -> DialogueTurn:
    return DialogueTurn(columns["text"], columns["intent"], tuple(Slot(**slot) for slot in columns["slots"]))
