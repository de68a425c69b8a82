"""The text mechanisms as stages of the graph: find the sensitive spans, add labelled ones, replace them, move the slots."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

import apache_beam as beam
import pyarrow as pa

from sottovoce.models.forget.whose import part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.runs.places import INDEX
from sottovoce.models.settings import Spec, common_languages, language_limits
from sottovoce.models.tally import Tally
from sottovoce.models.text import chain
from sottovoce.models.text.detect import ENGLISH, labelled_slots
from sottovoce.models.text.detect.labelled_slots import SlotSettings
from sottovoce.models.text.language import not_supported, spoken_in
from sottovoce.models.text.rewrite import ReleasesTemplates
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import InputSettings, Job
from sottovoce.transforms.engine.stage import Stage, Step
from sottovoce.transforms.nightly.state import DIALOGUES_PER_TABLE, Key, WriteState

SLOTS = "slots"
SLOT_COUNTS = pa.schema(
    [
        ("dialogue", pa.string()),
        ("speaker", pa.string()),
        ("type", pa.string()),
        *((name, pa.int64()) for name in labelled_slots.COUNTED),
    ]
)


class KnowLanguage(Stage):
    """Batches whose records say their language, which the stages of these families know; others are refused. On the way to a
    sink it is counted apart: a record goes through both."""

    def __init__(self, job: Job, *families: str, sink: str | None = None):
        limits = language_limits(getattr(job, family) for family in families)
        step = _Language(known_languages(job, *families), job.input, limits)
        step.name = language_stage(sink) if sink else _Language.name
        super().__init__(step, job)


def language_stage(sink: str) -> str:
    """The name that the refusals of language on the way to this sink are counted under."""
    return f"language, {sink}"


def known_languages(job: Job, *families: str) -> frozenset[str] | None:
    """What all of the families' members know; None: any language."""
    return common_languages(getattr(job, family) for family in families)


class _Language(Step):
    name = "language"

    def __init__(self, known: frozenset[str] | None, settings: InputSettings, limits: str = ""):
        """`limits` are the members that do not know every language, as the job names them."""
        self._known, self._settings, self._limits = known, settings, limits

    def one(self, utterance: Utterance) -> Utterance:
        if self._known is None:
            return utterance
        code = spoken_in(utterance.text, utterance.language or self._settings.language, self._known)
        if code not in self._known:
            if self._settings.other_languages == "refuse":
                raise not_supported(self._limits)
            return utterance
        # Who detects and replaces goes by it. English needs not be said: it is what a text without a language is taken for.
        told = utterance.language is not None or code == ENGLISH
        return utterance if told else dataclasses.replace(utterance, language=code)


class DetectEntities(Stage):
    """Batches -> the same, with the spans that the job's detector finds; in a crowd release it sees each text alone."""

    def __init__(self, job: Job):
        super().__init__(_Detect(job.detect, alone=isinstance(job.rewrite.make(), ReleasesTemplates)), job)


class AddLabelledSlots(Stage):
    """Detected batches -> the same, with the spans of their sensitive slots; counts what the detector had missed."""

    def __init__(self, job: Job):
        super().__init__(_Label(job.slots), job)


class IndexLabelledSlots(beam.PTransform):
    """Whose labelled slots were counted, in private state: so that the counts stay true when somebody is forgotten."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // DIALOGUES_PER_TABLE

    def expand(self, detected: beam.PCollection) -> beam.PCollection:
        """The paths of the tables: counts by dialogue, speaker and type."""
        job = self._job
        counts = detected | "Count" >> beam.FlatMap(_slots_by_owner, job.slots, job.secret)
        return counts | WriteState(job.places, SLOTS, SLOT_COUNTS, self._shards, INDEX)


def _slots_by_owner(
    batch: Sequence[Utterance], settings: SlotSettings, secret: Secret
) -> Iterator[list[tuple[Key, tuple[int, ...]]]]:
    rows: list[tuple[Key, tuple[int, ...]]] = []
    for utterance in batch:
        if utterance.slots:
            part = part_of_utterance(secret, utterance)
            for type_, counts in _counts(settings, utterance).items():
                key = (part.dialogue, part.speaker, type_)
                rows.append((key, tuple(counts[name] for name in labelled_slots.COUNTED)))
    if rows:
        yield rows


def _counts(settings: SlotSettings, detected: Utterance) -> dict[str, Counter[str]]:
    return labelled_slots.count(detected.text, detected.spans, settings.spans(detected.slots))


class _Detect(Step):
    """`alone`: each text by itself. Some networks round a little differently by what stands beside a text in a batch, and one
    person's text would then move a span in another's, which no differential privacy for a speaker allows."""

    name = "detect"

    def __init__(self, detector: Spec, alone: bool = False):
        self._spec, self._alone = detector, alone

    def setup(self) -> None:
        members.load(self._spec)

    def many(self, utterances: Sequence[Utterance]) -> list[Utterance]:
        loaded = members.load(self._spec)
        with loaded.lock:
            if not self._alone:
                return chain.detected(loaded.member, utterances)
            return [chain.detected(loaded.member, [utterance])[0] for utterance in utterances]

    def one(self, utterance: Utterance) -> Utterance:
        return self.many([utterance])[0]


class _Label(Step):
    name = "slots"

    def __init__(self, settings: SlotSettings):
        self._settings = settings

    def one(self, utterance: Utterance) -> Utterance:
        if not utterance.slots:
            return utterance
        return dataclasses.replace(
            utterance, spans=tuple(self._settings.add(utterance.text, utterance.spans, utterance.slots))
        )

    def count(self, tally: Tally, detected: Utterance, _: Utterance) -> None:
        if detected.slots:
            tally.merge(Tally(slots=_counts(self._settings, detected)))


class ReplaceEntities(Stage):
    """Replaces the marked spans by the job's strategy; lists counted in the corpus come in as a side input."""

    def __init__(self, job: Job):
        super().__init__(_Replace(job.replace, job.secret), job)
        if job.corpus_values is not None:
            self._sides = (beam.pvalue.AsSingleton(job.corpus_values),)


class RewriteEach(Stage):
    """Each utterance for itself becomes another one (`models/text/rewrite`)."""

    def __init__(self, job: Job):
        super().__init__(_Rewrite(job.rewrite, job.secret), job)


class _Rewrite(Step):
    name = "rewrite"

    def __init__(self, rewriter: Spec, secret: Secret):
        # Draws of its own for each mechanism, for the reason that `_Replace` gives.
        self._spec, self._secret = rewriter, secret
        self._key: Secret | None = None  # made on the worker: a key that is no reference must not be pickled

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, utterance: Utterance) -> Utterance:
        if self._key is None:
            self._key = chain.draws_of(self._secret, self._spec)
        loaded = members.load(self._spec)
        with loaded.lock:
            return dataclasses.replace(loaded.member.rewrite(utterance, self._key), spans=())


class _Replace(Step):
    name = "replace"

    def __init__(self, strategy: Spec, secret: Secret):
        self._spec, self._secret = strategy, secret
        self._always = chain.without_coin(strategy)
        self._lists: dict[str, dict[str, float]] | None = None
        self._key: Secret | None = None  # made on the worker: a key that is no reference must not be pickled

    def setup(self) -> None:
        members.load(self._spec)

    def use(self, lists: dict[str, dict[str, float]]) -> None:
        """The lists that were counted in this corpus (`value_distribution.py`)."""
        if lists != self._lists:
            self._lists, self._key = lists, None
        for spec in (self._spec, self._always):
            loaded = members.load(spec)
            with loaded.lock:
                loaded.member.use_corpus(lists)

    def one(self, utterance: Utterance) -> Utterance:
        loaded = members.load(self._always if utterance.replace_always else self._spec)
        if self._key is None:
            self._key = chain.draws_of(self._secret, self._spec, self._lists)
        with loaded.lock:
            return chain.replaced(loaded.member, utterance, self._key)
