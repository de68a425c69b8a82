"""Whole dialogues for dialogue management: the turns in order, under an alias that nothing else uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sottovoce.models.randomness import Secret
from sottovoce.models.records import DialogueExample, DialogueTurn, Slot, SluExample, Utterance
from sottovoce.transforms.rows import Row, origin_of, to_row
from sottovoce.transforms.sinks.replaced_text import ReplacedText

TURN = "turn"


class DialogueSink(ReplacedText):
    record_type = DialogueExample
    rows_per_shard = 10_000
    stages = "replace -> regroup"

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        """One turn, as an example of its own under the alias of its dialogue, with its number."""
        alias = secret.token("dialogue alias", utterance.dialogue_id)
        example = SluExample(alias, utterance.text, utterance.intent, utterance.slots, utterance.language)
        return to_row(origin_of(secret, utterance), utterance.source, example, **{TURN: utterance.turn})

    @staticmethod
    def assemble(turns: Iterable[Row]) -> list[Row]:
        """Turns of one alias meet in one shard: the shuffle that writing needs regroups the dialogues as well."""
        dialogues: dict[str, list[Row]] = {}
        for turn in turns:
            dialogues.setdefault(turn.columns["id"], []).append(turn)
        return [_dialogue(alias, own) for alias, own in dialogues.items()]


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
