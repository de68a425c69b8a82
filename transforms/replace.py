"""Replace the sensitive spans, and move the slots with the text."""

from __future__ import annotations

import dataclasses

import apache_beam as beam

from sottovoce.models.edits import apply_edits
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class ReplaceEntities(Stage):
    def __init__(self, job: Job):
        super().__init__(_Replace(job.replace, job.secret), job)
        if job.corpus_values is not None:
            self._sides = (beam.pvalue.AsSingleton(job.corpus_values),)


class _Replace:
    name = "replace"

    def __init__(self, strategy: Spec, secret: Secret):
        self._spec, self._secret = strategy, secret
        # The same strategy without a coin: it replaces every unit.
        kept = tuple(option for option in strategy.options if option[0] not in ("p", "target_epsilon", "p_mode"))
        self._always = Spec(strategy.family, strategy.name, kept)

    def setup(self) -> None:
        members.load(self._spec)

    def use(self, lists: dict[str, dict[str, float]]) -> None:
        """The lists that were counted in this corpus (`value_distribution.py`)."""
        for spec in (self._spec, self._always):
            loaded = members.load(spec)
            with loaded.lock:
                loaded.member.use_corpus(lists)

    def one(self, utterance: Utterance) -> Utterance:
        """The utterance with the new text and slots; its spans are gone, since they refer to the old text."""
        loaded = members.load(self._always if utterance.replace_always else self._spec)
        with loaded.lock:
            edits = loaded.member.replace(utterance, self._secret)
        text, slots = apply_edits(utterance.text, edits, utterance.slots)
        return dataclasses.replace(utterance, text=text, slots=tuple(slots), spans=())
