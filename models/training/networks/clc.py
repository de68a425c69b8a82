"""CLC: character CNN and word embeddings, two bidirectional LSTM layers, intent head and CRF (Dupuy et al. 2022, sec. 4).

Words are hashed to buckets and learned, or come from a file of public vectors (FastText) and stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.models.settings import require
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks.lstm import BiLstm
from sottovoce.models.training.networks.member import Member
from sottovoce.models.training.networks.network import IntentSlotNetwork
from sottovoce.models.training.networks.words import UNKNOWN, bucket_of, bytes_of, keep_vectors, read_vectors


@dataclass(frozen=True)
class Clc(Member):
    """`vectors` is a text file of word vectors; without it `buckets` embeddings of `word_size` are learned."""

    task: ClassVar[str] = "slu"

    hidden: int = 384
    layers: int = 2
    word_size: int = 300
    buckets: int = 8000
    vectors: str | None = None
    character_size: int = 25
    filters: int = 50
    dropout: float = 0.0
    longest: int = 64

    def __post_init__(self) -> None:
        sizes = ("hidden", "layers", "word_size", "character_size", "filters", "longest")
        require(
            *((getattr(self, name) >= 1, f"{name}: must be at least 1") for name in sizes),
            (self.buckets >= 3, "buckets: must be at least 3"),
            (0 <= self.dropout < 1, "dropout: must lie in [0, 1)"),
        )

    def encoder(self) -> ClcEncoder:
        """How sentences become numbers; the file of vectors is read for its words alone, where one is given."""
        return ClcEncoder(self.buckets, read_vectors(self.vectors)[0] if self.vectors else None, self.longest)

    def network(self, labels: Labels) -> IntentSlotNetwork:
        if self.vectors:
            words = nn.Embedding.from_pretrained(torch.from_numpy(read_vectors(self.vectors)[1]), freeze=True)
        else:
            words = nn.Embedding(self.buckets, self.word_size)
        return IntentSlotNetwork(ClcReader(self, words), 2 * self.hidden, labels)

    def keep_beside(self, network: nn.Module, folder: Path) -> dict[str, Any]:
        return keep_vectors(self.vectors, folder)


@dataclass(frozen=True)
class ClcEncoder:
    """Sentences as numbers of characters and words; words are hashed into `buckets` or looked up in a public list."""

    buckets: int
    index: Mapping[str, int] | None
    longest: int

    def words_kept(self, tokens: Sequence[str]) -> int:
        return min(len(tokens), self.longest)

    def encode(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        return {
            "words": np.array([self._number(token) for token in tokens], dtype=np.int64),
            "characters": np.array([bytes_of(token) for token in tokens], dtype=np.int64),
        }

    def _number(self, token: str) -> int:
        if self.index is None:
            return bucket_of(token, self.buckets)
        return self.index.get(token, self.index.get(token.lower(), UNKNOWN))


class ClcReader(nn.Module):
    """The network itself; each layer has a rule for gradients a row (`models/training/privacy/ghost_rules.py`)."""

    def __init__(self, options: Clc, words: nn.Embedding):
        super().__init__()
        self.words = words
        self.characters = nn.Embedding(257, options.character_size)
        # a convolution of width 3, written as a linear layer over triples of neighbours
        self.convolve = nn.Linear(3 * options.character_size, options.filters)
        size = words.embedding_dim + options.filters
        sizes = [size] + [2 * options.hidden] * (options.layers - 1)
        self.lstms = nn.ModuleList(BiLstm(inputs, options.hidden) for inputs in sizes)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, features: Mapping[str, Tensor], lengths: Tensor) -> tuple[Tensor, Tensor]:
        spelled = nn.functional.pad(self.characters(features["characters"]), (0, 0, 1, 1))
        triples = torch.cat([spelled[:, :, :-2], spelled[:, :, 1:-1], spelled[:, :, 2:]], -1)
        shapes = self.convolve(triples).relu().amax(2)
        words = self.dropout(torch.cat([self.words(features["words"]), shapes], -1))
        for lstm in self.lstms:
            words = self.dropout(lstm(words, lengths))
        outside = torch.arange(words.shape[1], device=words.device) >= lengths.unsqueeze(-1)
        return words, words.masked_fill(outside.unsqueeze(-1), float("-inf")).amax(1)
