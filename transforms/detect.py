"""Add the sensitive spans to each utterance."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class DetectEntities(Stage):
    def __init__(self, job: Job):
        super().__init__(_Detect(job.detect), job)


class _Detect:
    name = "detect"

    def __init__(self, detector: Spec):
        self._spec = detector

    def setup(self) -> None:
        members.load(self._spec)

    def many(self, utterances: Sequence[Utterance]) -> list[Utterance]:
        loaded = members.load(self._spec)
        with loaded.lock:
            found = loaded.member.detect([utterance.text for utterance in utterances])
        return [
            dataclasses.replace(utterance, spans=tuple(spans))
            for utterance, spans in zip(utterances, found, strict=True)
        ]

    def one(self, utterance: Utterance) -> Utterance:
        return self.many([utterance])[0]
