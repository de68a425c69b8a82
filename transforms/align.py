"""Find the words of each utterance in its speech."""

from __future__ import annotations

import dataclasses

from sottovoce.models.settings import Spec
from sottovoce.models.spoken import Spoken
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class AlignWords(Stage):
    def __init__(self, job: Job):
        super().__init__(_Align(job.align), job)


class _Align:
    name = "align"

    def __init__(self, aligner: Spec):
        self._spec = aligner

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, spoken: Spoken) -> Spoken:
        loaded = members.load(self._spec)
        with loaded.lock:
            words = loaded.member.align(spoken.speech, spoken.utterance.text, spoken.utterance.language)
        return dataclasses.replace(spoken, words=tuple(words))
