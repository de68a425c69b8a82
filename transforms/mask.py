"""Remove the sensitive words from the speech."""

from __future__ import annotations

import dataclasses

from sottovoce.models.masked_words import mark
from sottovoce.models.settings import Spec
from sottovoce.models.spoken import Spoken
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class MaskWords(Stage):
    def __init__(self, job: Job):
        super().__init__(_Mask(job.mask), job)


class _Mask:
    name = "mask"

    def __init__(self, masker: Spec):
        self._spec = masker

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, spoken: Spoken) -> Spoken:
        loaded = members.load(self._spec)
        unsaid_guard_s = loaded.member.guard_ms / 1000 if spoken.unsaid else None
        masked = mark(spoken.utterance.text, spoken.utterance.spans, spoken.words, unsaid_guard_s)
        with loaded.lock:
            speech = loaded.member.mask(spoken.speech, masked.stretches)
        return dataclasses.replace(spoken, speech=speech, masked=masked)
