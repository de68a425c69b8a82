"""Examples as padded tensors. What a model reads of a sentence is its own affair: an encoder returns named arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from sottovoce.models.training.examples import Example, Labels

NO_LABEL = -1


class AnyBatch(Protocol):
    """What the private loop knows of a batch; `weights` multiply the loss of each row."""

    weights: torch.Tensor

    def __len__(self) -> int: ...

    def to(self, device: torch.device) -> AnyBatch:
        """The same batch with its tensors on the device."""


class Encoder(Protocol):
    """How a network wants its sentences in numbers."""

    def encode(self, tokens: Sequence[str]) -> Mapping[str, np.ndarray]:
        """Whole numbers by name; the first axis is padded with zeros to the longest of a batch."""

    def words_kept(self, tokens: Sequence[str]) -> int:
        """How many of the words the model reads; a long sentence may be cut."""


@dataclass(frozen=True, repr=False)
class Encoded:
    """One example in numbers. A label that the model does not know is -1: it is scored as wrong, never trained on."""

    features: Mapping[str, np.ndarray]
    tags: np.ndarray
    intent: int


@dataclass(repr=False)
class Batch:
    """`weights` multiply the loss of each row: 1/rows for a mean, 0 for a row that only pads a unit."""

    features: dict[str, torch.Tensor]
    lengths: torch.Tensor
    tags: torch.Tensor
    intents: torch.Tensor
    weights: torch.Tensor

    def __len__(self) -> int:
        return len(self.intents)

    def to(self, device: torch.device) -> Batch:
        features = {name: tensor.to(device) for name, tensor in self.features.items()}
        rest = (self.lengths, self.tags, self.intents, self.weights)
        return Batch(features, *(tensor.to(device) for tensor in rest))


def encode(examples: Sequence[Example], encoder: Encoder, labels: Labels) -> list[Encoded]:
    """One row per example, cut to the words that the encoder reads; a label that is not among `labels` becomes -1."""
    intents = {name: number for number, name in enumerate(labels.intents)}
    tags = {name: number for number, name in enumerate(labels.tags)}
    rows = []
    for example in examples:
        kept = encoder.words_kept(example.tokens)
        numbers = np.array([tags.get(tag, NO_LABEL) for tag in example.tags[:kept]], dtype=np.int64)
        features = encoder.encode(example.tokens[:kept])
        rows.append(Encoded(features, numbers, intents.get(example.intent, NO_LABEL)))
    return rows


def collate(rows: Sequence[Encoded], weights: Sequence[float] | None = None) -> Batch:
    """Rows of any length as one batch, padded with zeros. Without weights each row counts 1 / rows, for a mean loss."""
    features = {name: _padded([row.features[name] for row in rows]) for name in rows[0].features}
    return Batch(
        features=features,
        lengths=torch.tensor([len(row.tags) for row in rows]),
        tags=_padded([row.tags for row in rows]),
        intents=torch.tensor([row.intent for row in rows]),
        weights=torch.tensor(weights if weights is not None else [1 / len(rows)] * len(rows)),
    )


@dataclass(repr=False)
class NamedBatch:
    """Arrays by name, padded with zeros along their first axis, and how long each row's was."""

    tensors: dict[str, torch.Tensor]
    lengths: dict[str, torch.Tensor]
    weights: torch.Tensor

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.tensors[name]

    def to(self, device: torch.device) -> NamedBatch:
        tensors, lengths = (
            {name: tensor.to(device) for name, tensor in own.items()} for own in (self.tensors, self.lengths)
        )
        return NamedBatch(tensors, lengths, self.weights.to(device))

    def inside(self, name: str) -> torch.Tensor:
        """[rows, places]: where a row has something of its own."""
        places = torch.arange(self.tensors[name].shape[1], device=self.weights.device)
        return places < self.lengths[name].unsqueeze(-1)


def collate_named(rows: Sequence[Mapping[str, np.ndarray]], weights: Sequence[float] | None = None) -> NamedBatch:
    """The same for rows of arrays by name; all rows have the names of the first."""
    return NamedBatch(
        {name: _padded([row[name] for row in rows]) for name in rows[0]},
        {name: torch.tensor([len(row[name]) for row in rows]) for name in rows[0]},
        torch.tensor(weights if weights is not None else [1 / len(rows)] * len(rows)),
    )


def _padded(arrays: Sequence[np.ndarray]) -> torch.Tensor:
    """Also along further axes, where arrays are of different sizes there."""
    sizes = [max(array.shape[axis] for array in arrays) for axis in range(arrays[0].ndim)]
    real = np.issubdtype(arrays[0].dtype, np.floating)
    whole = np.zeros((len(arrays), *sizes), dtype=np.float32 if real else np.int64)
    for row, array in zip(whole, arrays, strict=True):
        row[tuple(slice(size) for size in array.shape)] = array
    return torch.from_numpy(whole)
