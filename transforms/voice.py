"""Replace the voice of each utterance."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sottovoce.models.randomness import Secret
from sottovoce.models.settings import Spec
from sottovoce.models.slice import Slicer
from sottovoce.models.spoken import Spoken
from sottovoce.models.voice import Voiced, refuse_if_unchanged
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class AnonymiseVoice(Stage):
    def __init__(self, job: Job):
        super().__init__(_Anonymise(job.voice, job.secret, job.slice), job)


class _Anonymise:
    name = "voice"

    def __init__(self, anonymiser: Spec, secret: Secret, slicer: Slicer):
        self._spec, self._secret, self._slicer = anonymiser, secret, slicer

    def setup(self) -> None:
        members.load(self._spec)

    def many(self, batch: Sequence[Spoken]) -> list[Spoken]:
        """All at once where the voice can; nothing where it takes them one by one, which the stage then does."""
        loaded = members.load(self._spec)
        if not hasattr(loaded.member, "transform_many"):
            return []
        with loaded.lock:
            items = [(spoken.utterance, spoken.speech, spoken.words) for spoken in batch]
            voiced = loaded.member.transform_many(items, self._secret)
        return [_voiced(one, new) for one, new in zip(batch, voiced, strict=True)]

    def one(self, spoken: Spoken) -> Spoken:
        loaded = members.load(self._spec)
        with loaded.lock:
            # A voice of its own for each slice: only then does the voice need to know where the cuts will be.
            cuts = {"slices": self._slicer.groups} if getattr(loaded.member, "assign", None) == "slice" else {}
            voiced = loaded.member.transform(spoken.utterance, spoken.speech, spoken.words, self._secret, **cuts)
        return _voiced(spoken, voiced)


def _voiced(spoken: Spoken, voiced: Voiced) -> Spoken:
    refuse_if_unchanged(spoken.speech, voiced.speech)
    return dataclasses.replace(spoken, speech=voiced.speech, words=voiced.words, unsaid=voiced.unsaid)
