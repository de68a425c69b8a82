"""Refuse what could not be recognised tomorrow: records that name neither their dialogue nor themselves.

A record without ids is known by its file and line, which change with every line above it. What it says is no name
either: two people say "yes", and of two recordings of one sentence nobody could tell which was taken. So such records
are for the first run of an output alone, and never for a night.
"""

from __future__ import annotations

from sottovoce.models.errors import Refusal
from sottovoce.models.records import Utterance
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Stage, Step


class NoId(Refusal):
    code = "no_id"
    allowed = "dialogue_id, or id, in each record of a night and of every run but the first of an output"


class OnlyRecognisable(Stage):
    """The stage that refuses records without an id of their own or of their dialogue, right after reading."""

    def __init__(self, job: Job):
        super().__init__(_OnlyRecognisable(), job)


class _OnlyRecognisable(Step):
    name = "recognise"

    def one(self, utterance: Utterance) -> Utterance:
        if not utterance.named:
            raise NoId
        return utterance
