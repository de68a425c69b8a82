"""Replace the voice of each utterance."""

from __future__ import annotations

import dataclasses

from sottovoce.models.randomness import Secret
from sottovoce.models.settings import Spec
from sottovoce.models.spoken import Spoken
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class AnonymiseVoice(Stage):
    def __init__(self, job: Job):
        super().__init__(_Anonymise(job.voice, job.secret), job)


class _Anonymise:
    name = "voice"

    def __init__(self, anonymiser: Spec, secret: Secret):
        self._spec, self._secret = anonymiser, secret

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, spoken: Spoken) -> Spoken:
        loaded = members.load(self._spec)
        with loaded.lock:
            voiced = loaded.member.transform(spoken.utterance, spoken.speech, spoken.words, self._secret)
        return dataclasses.replace(spoken, speech=voiced.speech, words=voiced.words)
