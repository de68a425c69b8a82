"""Whole dialogues for dialogue management: the turns in order, under an alias that nothing else uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sottovoce.models.forget.whose import Part, part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import DialogueExample, DialogueTurn, Slot, SluExample, Utterance
from sottovoce.transforms.sinks.sink import ReplacedText
from sottovoce.transforms.write.rows import Row, origin_of, to_row


class DialogueSink(ReplacedText):
    """The sink `dm`: turns are replaced one by one, and put together again by dialogue when a shard is written."""

    record_type = DialogueExample
    rows_per_shard = 10_000
    stages = ("replace", "regroup")
    holds = "whole dialogues, for dialogue management"
    released = (
        "the number of dialogues, and the number and order of their turns",
        "the intent label of each turn, the name and place of each slot, and every character that no detector marked",
    )

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        """One turn, as an example of its own under the alias of its dialogue."""
        alias = secret.token("dialogue alias", utterance.dialogue_id)
        example = SluExample(alias, utterance.text, utterance.intent, utterance.slots, utterance.language)
        part = part_of_utterance(secret, utterance)._replace(turn=utterance.turn, language=utterance.language)
        return to_row(origin_of(secret, utterance), utterance.source, example, part)

    @staticmethod
    def assemble(turns: Iterable[Row]) -> list[Row]:
        """Turns of one alias meet in one shard: the shuffle that writing needs regroups the dialogues as well."""
        dialogues: dict[str, list[Row]] = {}
        for turn in turns:
            dialogues.setdefault(turn.columns["id"], []).append(turn)
        return [_dialogue(alias, own) for alias, own in dialogues.items()]

    @staticmethod
    def keep_parts(columns: dict[str, Any], parts: Sequence[Part], kept: Sequence[int]) -> dict[str, Any]:
        """A dialogue of which only the turns at these places are left: as if the others had never been said."""
        turns, left = columns["turns"], [parts[place] for place in kept]
        return columns | {"turns": [turns[place] for place in kept]} | _summed_up(left)


def _dialogue(alias: str, turns: list[Row]) -> Row:
    turns.sort(key=lambda row: (row.parts[0].turn, row.source.file, row.source.line))
    parts = [row.parts[0] for row in turns]
    example = DialogueExample(id=alias, turns=tuple(_turn(row.columns) for row in turns), **_summed_up(parts))
    return to_row(alias, turns[0].source, example, *parts)


def _summed_up(parts: Sequence[Part]) -> dict[str, Any]:
    """What a dialogue says of its turns together."""
    return {"language": parts[0].language}


def _turn(columns: dict[str, Any]) -> DialogueTurn:
    return DialogueTurn(columns["text"], columns["intent"], tuple(Slot(**slot) for slot in columns["slots"]))
