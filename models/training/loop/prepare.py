"""From files to what a training needs: examples to learn from, examples to be judged by, the schema, the units."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.models.errors import CorpusError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.examples import Corpus, Example, Labels, check_labels, labels_of, read_corpus
from sottovoce.models.training.train_settings import TrainSettings


@dataclass(frozen=True, repr=False)
class Prepared:
    """`units` lists the rows of `train` that belong to one unit of privacy."""

    train: list[Example]
    validation: list[Example]
    labels: Labels
    units: list[list[int]]
    without_intent: int

    def digest(self) -> str:
        """Tells whether a resumed training sees the data it began with."""
        whole = hashlib.sha256()
        for part in (self.train, self.validation):
            for row in part:
                whole.update(repr((row.tokens, row.tags, row.intent, row.speaker)).encode("utf-8", "surrogatepass"))
        return whole.hexdigest()


def prepare(data: str, settings: TrainSettings, key: Secret, commit: str | None = None) -> Prepared:
    """`commit` is the sha256 of the one commit that may be read of a run."""
    corpus = read_corpus(data, settings.train_split, commit)
    if settings.unit == "speaker":
        _check_speakers(corpus.examples)
    train, validation = corpus.examples, _validation(data, settings, commit)
    if validation is None:
        train, validation = _held_out(train, settings, key)
    _check_classes(corpus, train)
    labels = labels_of(train)
    labels = Labels(settings.intents or labels.intents, labels.slots if settings.slots is None else settings.slots)
    check_labels(train, labels)
    units = units_of(train, settings)
    return Prepared(train, validation, labels, units, corpus.without_intent)


def units_of(train: Sequence[Example], settings: TrainSettings) -> list[list[int]]:
    if settings.unit == "example":
        return [[row] for row in range(len(train))]
    speakers: dict[str | None, list[int]] = {}
    for row, example in enumerate(train):
        speakers.setdefault(example.speaker, []).append(row)
    return [rows[: settings.longest_speaker] for rows in speakers.values()]


def _check_speakers(examples: Sequence[Example]) -> None:
    for example in examples:
        if example.speaker is None:
            raise CorpusError(
                f"{example.source.file}: line {example.source.line}: no `speaker`; unit: speaker needs one in every row. "
                "The slu sink has none, because rows of one person are unlinked there: train with unit: example"
            )


def _validation(data: str, settings: TrainSettings, commit: str | None) -> list[Example] | None:
    if settings.validation is not None:
        return read_corpus(settings.validation, settings.validation_split).examples
    if settings.validation_split is not None:
        return read_corpus(data, settings.validation_split, commit).examples
    return None


def _held_out(examples: list[Example], settings: TrainSettings, key: Secret) -> tuple[list[Example], list[Example]]:
    """Each unit goes by its own draw, so that nobody's presence moves anybody else from one side to the other."""
    train: list[Example] = []
    validation: list[Example] = []
    for example in examples:
        whose = (str(example.speaker),) if settings.unit == "speaker" else (*example.tokens, example.intent)
        held_out = key.uniform("validation", *whose) < settings.validation_share
        (validation if held_out else train).append(example)
    return train, validation


def _check_classes(corpus: Corpus, train: Sequence[Example]) -> None:
    if not train:
        other = f"; {corpus.without_intent} rows have no intent" if corpus.without_intent else ""
        raise CorpusError(f"data: no labelled examples to train on{other}")
    if len({example.intent for example in train}) == 1:
        raise CorpusError(f"data: all {len(train)} examples have the same intent: there is nothing to tell apart")
