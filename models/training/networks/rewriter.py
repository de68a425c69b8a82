"""The auto-encoder of ADePT as a network of the private loop: a sentence to one short vector, and back to a sentence.

The last state of a reader, projected and clipped, is the vector; a writer sees it at every step. Two things make it read the
vector: the writer is not always shown the word before (`hidden`), and in every other row the vector gets noise, of another
strength each time, so that a vector from which noise has taken most still decodes to a sentence. What it writes beside its
weights is what `models/text/rewrite/autoencoder.py` computes with, without torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.models.settings import require
from sottovoce.models.text.rewrite.autoencoder import BEGIN, CLOSE, END, INTENT, OPEN, SPECIAL, UNKNOWN, write
from sottovoce.models.training.batches import NamedBatch
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks.lstm import Lstm
from sottovoce.models.training.networks.member import Member
from sottovoce.models.training.networks.vocabulary import WORDS, vocabulary_of


def brackets_of(labels: Labels) -> list[str]:
    """The tokens that are no words: intents, the brackets of slots, and what closes them."""
    return [*(INTENT + name for name in labels.intents), *(OPEN + name for name in labels.slots), CLOSE]


@dataclass(frozen=True)
class RewriterModel(Member):
    """`vocabulary`: words, or a file of public words; `size` of them. `noise`: the most of it on the vector in training."""

    task: ClassVar[str] = "rewriter"

    dimension: int = 32
    hidden_units: int = 128
    word_size: int = 64
    vocabulary: str = WORDS
    size: int = 3000
    longest: int = 40
    clip: float = 1.0
    hidden: float = 0.1
    noise: float = 0.4

    def __post_init__(self) -> None:
        names = ("dimension", "hidden_units", "word_size", "size", "longest")
        require(
            *((getattr(self, name) >= 1, f"{name}: must be at least 1") for name in names),
            (0 <= self.hidden < 1, "hidden: must lie in [0, 1)"),
            (self.noise >= 0 and self.clip > 0, "noise, clip: must not be negative"),
        )

    def tokens(self, schema: Labels) -> tuple[str, ...]:
        """All that the writer can say: a public list, and the names of the schema."""
        words = vocabulary_of(self.vocabulary, self.size).names[len(SPECIAL) :]
        return (*SPECIAL, *dict.fromkeys([*brackets_of(schema), *words]))

    def network(self, schema: Labels) -> RewriterNetwork:
        return RewriterNetwork(self, self.tokens(schema))

    def keep_beside(self, network: nn.Module, folder: Path) -> dict[str, Any]:
        assert isinstance(network, RewriterNetwork)
        write(
            folder,
            network.tokens,
            network.arrays(),
            {"trained_on": ["see privacy_card.json"], "recipe": {"dimension": self.dimension}},
        )
        if self.vocabulary == WORDS:
            return {}
        (folder / "vocabulary.txt").write_bytes(Path(self.vocabulary).read_bytes())
        return {"vocabulary": "vocabulary.txt"}


class RewriterNetwork(nn.Module):
    """Encoder, short vector and decoder, over a public list of words and the intents and slots of the schema."""

    def __init__(self, options: RewriterModel, tokens: tuple[str, ...]):
        super().__init__()
        self.options, self.tokens = options, tokens
        self.embed = nn.Embedding(len(tokens), options.word_size)
        self.reader = Lstm(options.word_size, options.hidden_units)
        self.project = nn.Linear(options.hidden_units, options.dimension, bias=False)
        self.writer = Lstm(options.word_size + options.dimension, options.hidden_units)
        self.narrow = nn.Linear(options.hidden_units, options.word_size, bias=False)
        self.head = nn.Linear(options.word_size, len(tokens))

    def vector(self, batch: NamedBatch) -> Tensor:
        """Inside the ball that it is clipped to."""
        lengths = batch.lengths["said"]
        states = self.reader(self.embed(batch["said"]), lengths)
        return self._clipped(self.project(states[torch.arange(len(states), device=states.device), lengths - 1]))

    def _clipped(self, vectors: Tensor) -> Tensor:
        return vectors * (self.options.clip / vectors.norm(dim=1, keepdim=True).clamp(min=self.options.clip))

    def scores(self, batch: NamedBatch, vector: Tensor, shown: Tensor) -> Tensor:
        steps = vector[:, None].expand(-1, shown.shape[1], -1)
        states = self.writer(torch.cat([self.embed(shown), steps], dim=2), batch.lengths["inputs"])
        return self.head(self.narrow(states))

    def losses(self, batch: NamedBatch) -> Tensor:
        """[rows, places]: zero where a sentence has ended. In training with noise, and with words hidden."""
        vector, shown = self.vector(batch), batch["inputs"]
        if self.training:
            strength = self.options.noise * (2 * torch.rand(len(vector), 1, device=vector.device) - 1).clamp(min=0)
            vector = self._clipped(vector + strength * torch.randn_like(vector))
            hidden = torch.rand(shown.shape, device=shown.device) < self.options.hidden
            shown = torch.where(hidden & (shown != SPECIAL.index(BEGIN)), SPECIAL.index(UNKNOWN), shown)
        scores, targets = self.scores(batch, vector, shown), batch["targets"]
        found = nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="none")
        return found.view_as(targets) * batch.inside("targets")

    def forward(self, batch: NamedBatch) -> Tensor:
        return self.losses(batch).sum(-1) / batch.lengths["targets"]

    def right(self, batch: NamedBatch) -> tuple[int, int]:
        """(tokens that are decoded right, told the ones before; tokens)."""
        found = self.scores(batch, self.vector(batch), batch["inputs"]).argmax(dim=2)
        inside = batch.inside("targets")
        return int(((found == batch["targets"]) & inside).sum()), int(inside.sum())

    def arrays(self) -> dict[str, np.ndarray]:
        """Copies of the weights, by the names of the file."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self._named().items()}

    def take(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from these weights, which must be of the same sizes."""
        with torch.no_grad():
            for name, value in self._named().items():
                value.copy_(torch.from_numpy(arrays[name]))

    def _named(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {
            "embed": self.embed.weight, "project": self.project.weight, "narrow": self.narrow.weight,
            "head": self.head.weight, "head_bias": self.head.bias,
        }  # fmt: skip
        for name, layer in (("encode", self.reader), ("decode", self.writer)):
            found |= {f"{name}_x": layer.project.weight, f"{name}_bias": layer.project.bias}
            found[f"{name}_h"] = layer.recur.weight[0].T
        return found


def row_of(tokens: list[int], longest: int) -> dict[str, np.ndarray]:
    """One sentence in numbers, as `said`, and as it is written: word by word, with its end."""
    tokens = tokens[: longest - 1]
    begin, end = SPECIAL.index(BEGIN), SPECIAL.index(END)
    return {"said": np.array(tokens), "inputs": np.array([begin, *tokens]), "targets": np.array([*tokens, end])}
