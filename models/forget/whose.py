"""Whose a record is, in keyed hashes: what `sottovoce forget` needs to find a person's records again.

A record of a sink is made of parts, one for each utterance in it: a line has one, a dialogue has one for each turn. The
parts travel with the record to the writer, which keeps them in private state; nothing of them is in what is handed on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Failure, Utterance


def speaker_token(secret: Secret, speaker_id: str) -> str:
    """The same in all runs of one secret, so that a person is found again in each, and what they are charged adds up."""
    return secret.token("charged speaker", speaker_id)


def dialogue_token(secret: Secret, dialogue_id: str) -> str:
    """The same in all runs of one secret, so that a dialogue that was taken once is known in the next."""
    return secret.token("taken dialogue", dialogue_id)


def nobody_token(secret: Secret, dialogue_id: str) -> str:
    """In place of the speaker, where a dialogue names none: such records are known, and charged, by their dialogue."""
    return secret.token("charged dialogue", dialogue_id)


class Part(NamedTuple):
    """One utterance's part of a record. `speaker` is empty where a refused record does not say whose it is.

    Beside the owner it holds what is needed to take the part away as if it had never been there: the language of a turn (a
    dialogue has that of its first one), and what the utterance has added to the counts of the run. `first` marks one part
    of each utterance, which stands for it where utterances are counted.
    """

    speaker: str = ""
    dialogue: str = ""
    turn: int = 0  # orders the parts of a record; not kept
    language: str | None = None
    first: bool = True
    audio_s: float = 0.0  # speech that was decoded
    sink: str = ""  # of a refused record: where its dialogue was sent, if it came so far


def part_of(secret: Secret, speaker_id: str | None, dialogue_id: str) -> Part:
    """Whose it is and no more. Where nobody is named, `nobody_token` stands for the speaker."""
    speaker = nobody_token(secret, dialogue_id) if speaker_id is None else speaker_token(secret, speaker_id)
    return Part(speaker, dialogue_token(secret, dialogue_id))


def part_of_utterance(secret: Secret, utterance: Utterance) -> Part:
    """`part_of` by the ids that an utterance bears; the caller adds turn, language and seconds where they count."""
    return part_of(secret, utterance.speaker_id, utterance.dialogue_id)


@dataclass(frozen=True, slots=True)
class OwnedFailure(Failure):
    """A failure on its way to the writer. Its part is never written beside it."""

    part: Part

    def alone(self) -> Failure:
        """What is written: the failure without whose it is."""
        return Failure(**{field.name: getattr(self, field.name) for field in dataclasses.fields(Failure)})


@dataclass(frozen=True)
class Forgotten:
    """Whom to forget, as tokens: people, and whole dialogues whoever speaks in them.

    `nobody` are those of the speakers that only stand for the dialogues, where these name none.
    """

    speakers: frozenset[str] = frozenset()
    dialogues: frozenset[str] = frozenset()
    nobody: frozenset[str] = frozenset()

    @classmethod
    def of(cls, secret: Secret, speaker_ids: Collection[str], dialogue_ids: Collection[str]) -> Forgotten:
        people = [speaker_token(secret, speaker_id) for speaker_id in speaker_ids]
        nobody = [nobody_token(secret, dialogue_id) for dialogue_id in dialogue_ids]
        dialogues = [dialogue_token(secret, dialogue_id) for dialogue_id in dialogue_ids]
        return cls(frozenset(people + nobody), frozenset(dialogues), frozenset(nobody))

    def __contains__(self, part: Part) -> bool:
        return part.speaker in self.speakers or part.dialogue in self.dialogues

    def __bool__(self) -> bool:
        return bool(self.speakers or self.dialogues)

    def __or__(self, other: Forgotten) -> Forgotten:
        return Forgotten(self.speakers | other.speakers, self.dialogues | other.dialogues, self.nobody | other.nobody)


NOT_UNDONE = (
    "copies of the records that were handed on before: whoever compares one with what is left sees whose records went",
    "models that were trained before and handed on: `sottovoce jobs` shows those to be trained anew",
    "what lists counted in this corpus (`values: corpus`) and the budgets of others owe to a person who is forgotten later",
)


def ledger(kept: bool) -> LedgerEntry:
    """What the ledger of a run says of forgetting; `kept`: whether it keeps the index."""
    if not kept:
        return LedgerEntry(
            stage="forget",
            mechanism="no index",
            says="The run keeps no index (forget: off): nobody can be taken out of it any more, except by removing it whole.",
            not_protected=("whoever asks to be forgotten: their records in this run cannot be found",),
        )
    return LedgerEntry(
        stage="forget",
        mechanism="keyed index",
        says="An index in the private state of the output says by keyed hashes which records are whose, so that "
        "`sottovoce forget` can take a person out again. Nothing of it is in what is handed on.",
        not_protected=(
            *NOT_UNDONE,
            "whoever holds both the private state and the secret can find the records of a person they know",
        ),
    )
