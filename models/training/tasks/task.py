"""What a task is: how rows of its sink become examples, tensors, scores and answers. The private loop knows nothing else.

An example has `source` (file and line), `speaker` (whose it is, or None) and `content` (all that a draw or a checkpoint
tells it apart by). A schema is a frozen dataclass of what is published with the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sottovoce.models.training.rows import Row

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

    from sottovoce.models.training.batches import AnyBatch
    from sottovoce.models.training.loop.evaluation import Confidence
    from sottovoce.models.training.train_settings import TrainSettings


@dataclass(frozen=True, repr=False)
class TaskCorpus:
    """What a task reads of its rows. `left_out` rows could not be learned from; the task says why."""

    examples: list[Any]
    left_out: int = 0


@dataclass(frozen=True)
class NoNames:
    """The schema of a task that publishes nothing of the data: its vocabulary or alphabet is public."""


class Task:
    """A subclass sets the attributes and has the methods."""

    sink: ClassVar[str]
    columns: ClassVar[frozenset[str]]  # that the shards of its sink must have
    default_model: ClassVar[str]
    examples: ClassVar[str]  # what its examples are, in the plural
    left_out_because: ClassVar[str]  # "12 rows have no intent"
    publishes: ClassVar[str]  # what of the data is published with a model, whatever its epsilon
    judged_by: ClassVar[str]  # the score that falls as a model gets better

    def read(self, rows: Iterable[Row], split: str | None = None) -> TaskCorpus:
        raise NotImplementedError

    def schema(self, train: Sequence[Any], settings: TrainSettings) -> Any:
        """What the model answers with; also refuses data that nothing can be learned from."""
        raise NotImplementedError

    def load_schema(self, values: Mapping[str, Any]) -> Any:
        """The schema of an exported model, from the `labels` of its `model.json`."""
        raise NotImplementedError

    def declared(self, settings: TrainSettings) -> bool:
        """Whether the schema is independent of the data."""
        return True

    def fits(self, example: Any, schema: Any) -> bool:
        """Whether an example of other data uses nothing outside the schema."""
        return True

    def encode(self, examples: Sequence[Any], member: Any, schema: Any) -> list[Any]:
        raise NotImplementedError

    def collate(self, rows: Sequence[Any], weights: Sequence[float] | None = None) -> AnyBatch:
        """Encoded rows as one padded batch. A row counts in the loss by its weight; without weights, all by 1 / their number."""
        raise NotImplementedError

    def evaluate(
        self, network: nn.Module, rows: Sequence[Any], examples: Sequence[Any], schema: Any
    ) -> dict[str, float]:
        raise NotImplementedError

    def nothing_learnt(self, scores: Mapping[str, float]) -> str | None:
        """In words, where the scores are those of a model that looks at nothing; None where it has learnt."""
        raise NotImplementedError

    def confidence(self, network: nn.Module, rows: Sequence[Any]) -> Confidence:
        """What an attacker sees of each example."""
        raise NotImplementedError

    def canary(self, examples: Sequence[Any], draw: np.random.Generator) -> Any:
        """An example made of these that nothing but memory explains: a model that fits it has kept it."""
        raise NotImplementedError

    def predict(self, network: nn.Module, member: Any, schema: Any, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """An answer for each line of text (or path of a recording, where the task is about sound)."""
        raise NotImplementedError


class Fault(Exception):
    """What is wrong with a row, in words that quote nothing of it."""


def name_of(value: Any, what: str) -> str:
    """A label: text, or a whole number that stands for one."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise Fault(f"{what}: expected a name, that is text")
    return str(value)


def invented_word(draw: np.random.Generator, letters: int = 10) -> str:
    """A word of no language."""
    return "".join(chr(97 + number) for number in draw.integers(26, size=letters))
