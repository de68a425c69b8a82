"""Listen to the masked speech again; what still says a removed word goes no further."""

from __future__ import annotations

from sottovoce.models.relisten import refuse_if_heard
from sottovoce.models.settings import Spec
from sottovoce.models.spoken import Spoken
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class ListenAgain(Stage):
    def __init__(self, job: Job):
        super().__init__(_Listen(job.relisten), job)


class _Listen:
    name = "relisten"

    def __init__(self, listener: Spec):
        self._spec = listener

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, spoken: Spoken) -> Spoken:
        assert spoken.masked is not None, "the check comes after masking"
        if spoken.unsaid:  # nothing of these words is in the sound, so whatever is heard is another word
            return spoken
        loaded = members.load(self._spec)
        with loaded.lock:
            refuse_if_heard(loaded.member, spoken.speech, spoken.utterance.text, spoken.words, spoken.masked)
        return spoken
