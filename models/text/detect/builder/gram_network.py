"""Train a small tagger of many languages from nothing: n-grams of words (`grams.py`), two LSTMs both ways, a linear layer.

No encoder that was trained on many languages is at hand, so that what is labelled must do: values are swapped for listed ones in
the language of the utterance (`augment.py`), words of entities are hidden now and then: frames are learnt rather than names.
Utterances of one length make a batch, which needs no padding. Draws depend on seed and epoch alone: a build that was
interrupted goes on from its checkpoint and ends with the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sottovoce.models.text.detect import grams
from sottovoce.models.text.detect.builder.batches import IGNORED, label_names
from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, Example
from sottovoce.models.text.detect.builder.recipe import Material


@dataclass(frozen=True)
class GramTraining:
    """`hide`: share of the words of entities that are hidden; `forget_words`: of words known by parts only. `average`: decay
    of the running mean of the weights, which is what is kept."""

    rows: int = 1 << 16
    width: int = 80
    hidden: int = 112
    epochs: int = 20
    learning_rate: float = 3e-3
    batch: int = 128
    dropout: float = 0.3
    hide: float = 0.15
    forget_words: float = 0.3
    average: float = 0.9985
    seed: int = 20240607


class GramTagger(nn.Module):
    """[texts, words, n-grams] -> scores [texts, words, labels]."""

    def __init__(self, options: GramTraining, labels: int) -> None:
        super().__init__()
        self.table = nn.Embedding(options.rows, options.width, padding_idx=grams.PADDING)
        nn.init.normal_(self.table.weight, std=0.3)
        self.lstm = nn.LSTM(
            options.width, options.hidden, 2, batch_first=True, bidirectional=True, dropout=options.dropout
        )
        self.dropout = nn.Dropout(options.dropout)
        self.head = nn.Linear(2 * options.hidden, labels)

    def forward(self, bags: torch.Tensor) -> torch.Tensor:
        real = (bags != grams.PADDING).unsqueeze(-1)
        total = (self.table(bags) * real).sum(2)
        return self._labels(total / real.sum(2).clamp(min=1))

    def quick(self, bags: torch.Tensor) -> torch.Tensor:
        """The same without a vector for each n-gram in memory; ONNX has no such operator."""
        flat = bags.flatten(0, 1)
        total = nn.functional.embedding_bag(flat, self.table.weight, mode="sum", padding_idx=grams.PADDING)
        count = (flat != grams.PADDING).sum(1, keepdim=True).clamp(min=1)
        return self._labels((total / count).unflatten(0, bags.shape[:2]))

    def _labels(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.dropout(self.lstm(self.dropout(words))[0]))


@dataclass
class GramTrained:
    model: GramTagger
    names: list[str]
    languages: list[str]
    history: list[dict[str, float]]


Row = tuple[list[int], list[int]]


class _Bank:
    """The n-grams of every word that was met, as one matrix: a text is then a list of numbers."""

    def __init__(self, rows: int, languages: Sequence[str]) -> None:
        self._rows, self._languages = rows, languages
        self._number: dict[str, int] = {}
        first = [[grams.LANGUAGE + at] for at in range(len(languages))]
        self._bags = np.zeros((1 << 16, grams.MOST), dtype=np.int64)
        for number, bag in enumerate([[grams.HIDDEN], *first]):
            self._bags[number, : len(bag)] = bag
        self._used = 1 + len(languages)

    def number(self, word: str) -> int:
        known = self._number.get(word)
        if known is None:
            known = self._number[word] = self._used
            self._used += 1
            if self._used > len(self._bags):
                self._bags = np.concatenate([self._bags, np.zeros_like(self._bags)])
            bag = grams.rows_of(word, self._rows)
            self._bags[known, : len(bag)] = bag
        return known

    def row(self, example: Example, labels: dict[str, int]) -> Row:
        """Numbers and labels of the words; the language comes first and has no label."""
        words = [1 + self._languages.index(example.language) if example.language in self._languages else 0]
        targets = [IGNORED]
        for token, label in zip(example.tokens, example.labels, strict=True):
            for begin, end in grams.words_of(token):
                words.append(self.number(token[begin:end].lower()))
                targets.append(IGNORED if label == MIXED else labels.get(label, labels[OUTSIDE]))
                label = f"I-{label[2:]}" if label.startswith("B-") else label
        return words, targets

    def batches(
        self, rows: Sequence[Row], size: int, draw: np.random.Generator | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(words, targets) of equal length."""
        by_length: dict[int, list[Row]] = {}
        for at in draw.permutation(len(rows)) if draw is not None else range(len(rows)):
            by_length.setdefault(len(rows[at][0]), []).append(rows[at])
        groups = [
            some[at : at + size] for length, some in by_length.items() if length > 1 for at in range(0, len(some), size)
        ]
        for at in draw.permutation(len(groups)) if draw is not None else range(len(groups)):
            words, targets = zip(*groups[at], strict=True)
            yield np.asarray(words), np.asarray(targets)

    def bags(self, words: np.ndarray) -> np.ndarray:
        bags = self._bags[words]
        return bags[:, :, : max(1, int((bags != grams.PADDING).sum(-1).max()))]


def train(material: Material, options: GramTraining, say: Callable[[str], None], checkpoint: Path) -> GramTrained:
    """Fit from nothing, or from the checkpoint of a build that was interrupted; it is written after each epoch."""
    names = label_names(material.types())
    labels = {name: at for at, name in enumerate(names)}
    languages = sorted({e.language for pool in material.pools.values() for e in pool} - {""})
    torch.manual_seed(options.seed)
    bank, model = _Bank(options.rows, languages), GramTagger(options, len(names))
    mean = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(options.average)
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.01, fused=True)
    trained, first = GramTrained(mean.module, names, languages, []), 0
    if checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(kept["model"])
        mean.load_state_dict(kept["mean"])
        optimiser.load_state_dict(kept["optimiser"])
        trained.history, first = kept["history"], kept["epoch"]
    dev = [bank.row(e, labels) for part in material.dev.values() for e in part]
    for epoch in range(first, options.epochs):
        draw = np.random.default_rng((options.seed, epoch))
        torch.manual_seed(options.seed + epoch)
        rows = [bank.row(example, labels) for example in material.epoch(draw)]
        loss = _epoch(model, mean, optimiser, bank, rows, epoch, options, draw)
        scores = _scores(mean.module, bank, dev)
        trained.history.append({"epoch": epoch + 1, "loss": loss, **scores})
        kept = {"model": model.state_dict(), "mean": mean.state_dict(), "optimiser": optimiser.state_dict()}
        torch.save(kept | {"history": trained.history, "epoch": epoch + 1}, checkpoint)
        told = " ".join(f"{key} {value:.4f}" for key, value in scores.items())
        say(f"epoch {epoch + 1} of {options.epochs}: loss {loss:.4f} dev {told}")
    trained.model.eval()
    return trained


def _epoch(
    model: GramTagger, mean: Any, optimiser: torch.optim.Optimizer, bank: _Bank, rows: Sequence[Row], epoch: int,
    options: GramTraining, draw: np.random.Generator,
) -> float:  # fmt: skip
    model.train()
    plan = list(bank.batches(rows, options.batch, draw))
    losses = []
    for at, (words, targets) in enumerate(plan):
        progress = (epoch + at / len(plan)) / options.epochs
        for group in optimiser.param_groups:
            group["lr"] = options.learning_rate * min(
                progress / 0.02 + 0.02, 0.5 * (1 + math.cos(math.pi * progress)) + 0.005
            )
        words = np.where((targets > 0) & (draw.random(words.shape) < options.hide), 0, words)
        bags = bank.bags(words)
        bags[..., 0] = np.where(
            (bags[..., 0] >= grams.RESERVED) & (draw.random(words.shape) < options.forget_words),
            grams.PADDING,
            bags[..., 0],
        )
        scores = model.quick(torch.from_numpy(bags))
        loss = nn.functional.cross_entropy(
            scores.flatten(0, 1), torch.from_numpy(targets).flatten(), ignore_index=IGNORED
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        mean.update_parameters(model)
        losses.append(loss.item())
    return float(np.mean(losses))


def _scores(model: GramTagger, bank: _Bank, dev: Sequence[Row]) -> dict[str, float]:
    """Recall and precision of "this word is sensitive", whatever the type."""
    model.eval()
    hit = said = gold = 0
    with torch.inference_mode():
        for words, targets in bank.batches(dev, 512, None):
            found = model.quick(torch.from_numpy(bank.bags(words))).argmax(-1).numpy() > 0
            hit += int((found & (targets > 0)).sum())
            said += int((found & (targets >= 0)).sum())
            gold += int((targets > 0).sum())
    recall, precision = hit / max(gold, 1), hit / max(said, 1)
    return {"recall": recall, "precision": precision, "f1": 2 * recall * precision / max(recall + precision, 1e-9)}
