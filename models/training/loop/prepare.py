"""From files to what a training needs: examples to learn from, examples to be judged by, the schema, the units."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.rows import rows_of
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.tasks.task import Corpus, Task
from sottovoce.models.training.train_settings import TrainSettings


@dataclass(frozen=True, repr=False)
class Prepared:
    """`units` lists the rows of `train` that belong to one unit of privacy; `left_out` rows cannot be learned from."""

    train: list[Any]
    validation: list[Any]
    labels: Any
    units: list[list[int]]
    left_out: int

    def digest(self) -> str:
        """Tells whether a resumed training sees the data it began with."""
        whole = hashlib.sha256()
        for part in (self.train, self.validation):
            for row in part:
                whole.update(repr((row.content, row.speaker)).encode("utf-8", "surrogatepass"))
        return whole.hexdigest()


def prepare(data: str, settings: TrainSettings, key: Secret, commit: str | None = None) -> Prepared:
    """`commit` is the sha256 of the one commit that may be read of a run."""
    task = task_of(settings.task)
    corpus = read_data(task, data, settings.train_split, commit)
    if settings.unit == "speaker":
        _check_speakers(corpus.examples)
    train, validation = corpus.examples, _validation(task, data, settings, commit)
    if validation is None:
        train, validation = _held_out(train, settings, key)
    if not train:
        other = f"; {corpus.left_out} rows {task.left_out_because}" if corpus.left_out else ""
        raise CorpusError(f"data: no {task.examples} to train on{other}")
    return Prepared(train, validation, task.schema(train, settings), units_of(train, settings), corpus.left_out)


def read_data(task: Task, data: str, split: str | None = None, commit: str | None = None) -> Corpus:
    return task.read(rows_of(Path(data), commit, task.sink, task.columns), split)


def units_of(train: Sequence[Any], settings: TrainSettings) -> list[list[int]]:
    if settings.unit == "example":
        return [[row] for row in range(len(train))]
    speakers: dict[str | None, list[int]] = {}
    for row, example in enumerate(train):
        speakers.setdefault(example.speaker, []).append(row)
    return [rows[: settings.longest_speaker] for rows in speakers.values()]


def _check_speakers(examples: Sequence[Any]) -> None:
    for example in examples:
        if example.speaker is None:
            raise CorpusError(
                f"{example.source.file}: line {example.source.line}: no `speaker`; unit: speaker needs one in every row. "
                "The slu sink has none, because rows of one person are unlinked there: train with unit: example"
            )


def _validation(task: Task, data: str, settings: TrainSettings, commit: str | None) -> list[Any] | None:
    if settings.validation is not None:
        return read_data(task, settings.validation, settings.validation_split).examples
    if settings.validation_split is not None:
        return read_data(task, data, settings.validation_split, commit).examples
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
