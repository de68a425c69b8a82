"""Train the auto-encoder of `autoencoder.py` with torch, and write its arrays.

The decoder is not always shown the word that it has just said (`hidden`), so that it must read the vector; noise is put on the
vector in training, inside the clipped ball, so that what lies near a sentence still decodes to a sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.settings import require
from sottovoce.models.text.rewrite.autoencoder import ARRAYS, BEGIN, CARD, END, LONGEST, PAD, SPECIAL, UNKNOWN


@dataclass(frozen=True)
class Recipe:
    dimension: int = 32
    embedding: int = 64
    hidden_units: int = 128
    words: int = 4000
    epochs: int = 8
    batch: int = 64
    rate: float = 2e-3
    hidden: float = 0.3
    noise: float = 0.05
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = (self.dimension, self.embedding, self.hidden_units, self.words, self.epochs, self.batch)
        require(
            (min(sizes) >= 1, "dimension, embedding, hidden_units, words, epochs, batch: must be at least 1"),
            (0 <= self.hidden < 1, "hidden: must lie in [0, 1)"),
            (self.noise >= 0 and self.rate > 0 and self.clip > 0, "noise, rate, clip: must not be negative"),
        )


def train(
    sentences: Sequence[Sequence[str]], recipe: Recipe, tell: Callable[[str], None]
) -> tuple[tuple[str, ...], dict[str, np.ndarray], float]:
    """(vocabulary, arrays, share of tokens of the last hundredth of the sentences that are decoded right)."""
    import torch

    torch.manual_seed(recipe.seed)
    counts = Counter(token for sentence in sentences for token in sentence)
    vocabulary = (*SPECIAL, *sorted(token for token, _ in counts.most_common(recipe.words)))
    number = {token: at for at, token in enumerate(vocabulary)}
    rows = [
        [number[BEGIN], *(number.get(token, number[UNKNOWN]) for token in sentence[: LONGEST - 1]), number[END]]
        for sentence in sentences
    ]
    held = max(1, len(rows) // 100)
    network = _network(len(vocabulary), recipe)
    optimiser = torch.optim.Adam(network.parameters(), recipe.rate)
    draw = np.random.default_rng(recipe.seed)
    learning = rows[held:] or rows
    for epoch in range(recipe.epochs):
        total, order = 0.0, draw.permutation(len(learning))
        for begin in range(0, len(order), recipe.batch):
            batch = _padded([learning[at] for at in order[begin : begin + recipe.batch]], number[PAD])
            loss = network.loss(batch, number)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            total += loss.item() * len(batch)
        tell(f"epoch {epoch + 1} of {recipe.epochs}: loss {total / len(learning):.3f}")
    with torch.no_grad():
        right = network.right(_padded(rows[:held], number[PAD]), number)
    return vocabulary, network.arrays(), right


def write(folder: Path, vocabulary: Sequence[str], arrays: dict[str, np.ndarray], card: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    small: dict[str, Any] = {name: array.astype(np.float16) for name, array in arrays.items()}
    np.savez_compressed(folder / ARRAYS, vocabulary=np.array(vocabulary), **small)
    (folder / CARD).write_text(json.dumps(card, indent=2) + "\n", "utf-8")


def card_for(recipe: Recipe, sources: Sequence[str], sentences: int, right: float, public: bool) -> dict[str, Any]:
    return {
        "trained_on": list(sources),
        "sentences": sentences,
        "public": public,
        "tokens_right": round(right, 4),
        "recipe": asdict(recipe),
    }


def _padded(rows: Sequence[Sequence[int]], pad: int) -> Any:
    import torch

    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])


def _network(words: int, recipe: Recipe) -> Any:
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(words, recipe.embedding)
            self.encode = nn.LSTM(recipe.embedding, recipe.hidden_units, batch_first=True)
            self.project = nn.Linear(recipe.hidden_units, recipe.dimension, bias=False)
            self.begin = nn.Linear(recipe.dimension, recipe.hidden_units)
            self.decode = nn.LSTM(recipe.embedding + recipe.dimension, recipe.hidden_units, batch_first=True)
            self.out = nn.Linear(recipe.hidden_units, recipe.embedding, bias=False)
            self.out_bias = nn.Parameter(torch.zeros(words))

        def vector(self, batch: Any, number: dict[str, int]) -> Any:
            inner = (batch != number[PAD]) & (batch != number[BEGIN]) & (batch != number[END])
            states, _ = self.encode(self.embed(batch[:, 1:]))
            last = inner.sum(dim=1).clamp(min=1) - 1
            found = self.project(states[torch.arange(len(batch)), last])
            return found * (recipe.clip / found.norm(dim=1, keepdim=True).clamp(min=recipe.clip))

        def scores(self, batch: Any, vector: Any) -> Any:
            steps = vector[:, None].expand(-1, batch.shape[1] - 1, -1)
            first = torch.tanh(self.begin(vector))[None]
            said = torch.cat([self.embed(batch[:, :-1]), steps], dim=2)
            states, _ = self.decode(said, (first, torch.zeros_like(first)))
            return self.out(states) @ self.embed.weight.T + self.out_bias

        def loss(self, batch: Any, number: dict[str, int]) -> Any:
            vector = self.vector(batch, number)
            vector = vector + recipe.noise * torch.randn_like(vector)
            shown = torch.where(torch.rand(batch.shape) < recipe.hidden, number[UNKNOWN], batch)
            shown[:, 0] = number[BEGIN]
            scores = self.scores(shown, vector)
            return nn.functional.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=number[PAD])

        def right(self, batch: Any, number: dict[str, int]) -> float:
            wanted = batch[:, 1:]
            counted = wanted != number[PAD]
            found = self.scores(batch, self.vector(batch, number)).argmax(dim=2)
            return float(((found == wanted) & counted).sum() / counted.sum())

        def arrays(self) -> dict[str, np.ndarray]:
            found = {
                "embed": self.embed.weight, "project": self.project.weight, "begin": self.begin.weight,
                "begin_bias": self.begin.bias, "out": self.out.weight, "out_bias": self.out_bias,
            }  # fmt: skip
            for name, layer in (("encode", self.encode), ("decode", self.decode)):
                found |= {f"{name}_x": layer.weight_ih_l0, f"{name}_h": layer.weight_hh_l0}
                found[f"{name}_bias"] = layer.bias_ih_l0 + layer.bias_hh_l0
            return {name: value.detach().numpy() for name, value in found.items()}

    return Network()
