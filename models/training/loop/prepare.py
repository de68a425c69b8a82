"""From files to what a training needs: examples to learn from, examples to be judged by, the schema, the units."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.rows import rows_of, run_around
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.tasks.task import Task, TaskCorpus
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import Units


@dataclass(frozen=True, repr=False)
class Prepared:
    """`units` lists the rows of `train` that belong to one unit of privacy; `left_out` rows cannot be learned from.

    `most_of_a_speaker` is how many examples one speaker has at most, where speakers are known."""

    train: list[Any]
    validation: list[Any]
    labels: Any
    units: list[list[int]]
    left_out: int
    settings: TrainSettings | None = None  # with the unit as the data allow it
    most_of_a_speaker: int | None = None

    def digest(self) -> str:
        """Tells whether a resumed training sees the data it began with."""
        whole = hashlib.sha256()
        for part in (self.train, self.validation):
            for row in part:
                whole.update(repr((row.content, row.speaker)).encode("utf-8", "surrogatepass"))
        return whole.hexdigest()


def prepare(
    data: str, settings: TrainSettings, key: Secret, commit: str | None = None, units: Units | None = None
) -> Prepared:
    """`commit` is the sha256 of the one commit that may be read of a run, `units` say whose its rows are."""
    task = task_of(settings.task)
    _check_public(settings, data)
    corpus = read_data(task, data, settings.train_split, commit, units)
    known = bool(corpus.examples) and all(example.speaker is not None for example in corpus.examples)
    if settings.unit == "speaker":
        _check_speakers(corpus.examples)
    elif settings.unit is None:
        settings = replace(settings, unit="speaker" if known and settings.may_protect_speakers else "example")
    train, validation = corpus.examples, _validation(task, data, settings, commit, units)
    if validation is None:
        train, validation = _held_out(train, settings, key)
    if not train and validation and corpus.examples:
        raise CorpusError(
            f"data: all {len(validation)} {task.examples} were drawn for validation, none is left to train on: more data, or "
            "a smaller validation_share"
        )
    if not train:
        other = f"; {corpus.left_out} rows {task.left_out_because}" if corpus.left_out else ""
        raise CorpusError(f"data: no {task.examples} to train on{other}")
    most = max(Counter(example.speaker for example in train).values()) if known else None
    rows = units_of(train, settings)
    return Prepared(train, validation, task.schema(train, settings), rows, corpus.left_out, settings, most)


def read_data(
    task: Task, data: str, split: str | None = None, commit: str | None = None, units: Units | None = None
) -> TaskCorpus:
    """Examples of a file, a folder or a run as the task reads them; `split` keeps the rows of one split."""
    return task.read(rows_of(Path(data), commit, task.sink, task.columns, units), split)


def units_of(train: Sequence[Any], settings: TrainSettings) -> list[list[int]]:
    """Row numbers of each unit of privacy: one example, or what is kept of a speaker's, the first `longest_speaker` of them."""
    if settings.protects == "example":
        return [[row] for row in range(len(train))]
    speakers: dict[str | None, list[int]] = {}
    for row, example in enumerate(train):
        speakers.setdefault(example.speaker, []).append(row)
    return [rows[: settings.longest_speaker] for rows in speakers.values()]


def _check_public(settings: TrainSettings, data: str) -> None:
    """Statistics of public examples go with the weights, and scores on them stand on the card, exact: not of a run."""
    scored = (settings.validation or data) if settings.validation_is_public else None
    for name, path in (("public_data", settings.public_data), ("validation_is_public", scored)):
        run = run_around(Path(path)) if path else None
        if run is not None:
            raise CorpusError(f"{name}: {path} lies in {run.name}, whose people are not public")


def _check_speakers(examples: Sequence[Any]) -> None:
    for example in examples:
        if example.speaker is None:
            raise CorpusError(
                f"{example.source.file}: line {example.source.line}: no `speaker`; unit: speaker needs one in every row. "
                "Rows of a run have it from the private state of the run (forget: on); a copy that was handed on has none: "
                "train with unit: example"
            )


def _validation(
    task: Task, data: str, settings: TrainSettings, commit: str | None, units: Units | None
) -> list[Any] | None:
    if settings.validation is not None:
        return read_data(task, settings.validation, settings.validation_split).examples
    if settings.validation_split is not None:
        return read_data(task, data, settings.validation_split, commit, units).examples
    return None


def _held_out(examples: list[Any], settings: TrainSettings, key: Secret) -> tuple[list[Any], list[Any]]:
    """Each unit goes by its own draw, so that nobody's presence moves anybody else from one side to the other."""
    train: list[Any] = []
    validation: list[Any] = []
    for example in examples:
        whose = (str(example.speaker),) if settings.unit == "speaker" else example.content
        held_out = key.uniform("validation", *whose) < settings.validation_share
        (validation if held_out else train).append(example)
    return train, validation
