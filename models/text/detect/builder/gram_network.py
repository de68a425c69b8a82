"""Train a small tagger of many languages from nothing: n-grams of words (`grams.py`), two LSTMs both ways, a linear layer.

No encoder that was trained on many languages is at hand, so that what is labelled must do: values are swapped for listed ones in
the language of the utterance (`augment.py`), words of entities are hidden now and then: frames are learnt rather than names.
A second head, which is thrown away, tells the slots that are not sensitive (a song from an artist) in training. The table is
most of the network and ships in four bits: it is rounded before the last epochs, in which the rest gets used to that.
Utterances of one length make a batch, which needs no padding. Draws depend on seed and epoch alone: a build that was
interrupted goes on from its checkpoint and ends with the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sottovoce.models.text.detect import grams
from sottovoce.models.text.detect.builder.batches import IGNORED, label_names
from sottovoce.models.text.detect.builder.gram_bank import Bank, Row, known_words
from sottovoce.models.text.detect.builder.gram_start import start_from
from sottovoce.models.text.detect.builder.gram_training import GramTraining
from sottovoce.models.text.detect.builder.recipe import TrainingMaterial
from sottovoce.models.text.detect.known_words import KnownWords

SETTLED_AVERAGE = 0.99  # of the weights after the table is rounded: the epochs are few then


class GramTagger(nn.Module):
    """[texts, words, n-grams] -> scores [texts, words, labels]. A word is itself, its lists and the mean of its parts. `scale`:
    what one step of the table's rounded rows is worth; nothing before they are. `met`: rows that training has come by."""

    scale: torch.Tensor
    met: torch.Tensor

    def __init__(self, options: GramTraining, labels: int, others: int) -> None:
        super().__init__()
        self.first_part = grams.parts_begin(options.rows)
        self.table = nn.Embedding(options.rows, options.width, padding_idx=grams.PADDING)
        nn.init.normal_(self.table.weight, std=0.3)
        self.register_buffer("scale", torch.zeros(options.rows))
        self.register_buffer("met", torch.zeros(options.rows, dtype=torch.bool))
        self.lstm = nn.LSTM(
            options.width, options.hidden, 2, batch_first=True, bidirectional=True, dropout=options.dropout
        )
        self.dropout = nn.Dropout(options.dropout)
        self.head = nn.Linear(2 * options.hidden, labels)
        self.aside = nn.Linear(2 * options.hidden, others)

    def weights(self, bags: torch.Tensor) -> torch.Tensor:
        """What each n-gram counts in its word: padding 0, the word and its lists 1, each of n parts 1 / n."""
        part = (bags >= self.first_part).float()
        return (bags != grams.PADDING).float() * (1 - part) + part / part.sum(-1, keepdim=True).clamp(min=1)

    def forward(self, bags: torch.Tensor) -> torch.Tensor:
        return self.labels_of((self.table(bags) * self.weights(bags).unsqueeze(-1)).sum(2))

    def labels_of(self, words: torch.Tensor) -> torch.Tensor:
        """[texts, words, width] -> [texts, words, labels]: the network behind the table, from word vectors on."""
        return self.head(self._read(words))

    def quick(self, bags: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(labels, other slots) without a vector for each n-gram in memory; ONNX has no such operator."""
        flat = bags.flatten(0, 1)
        words = nn.functional.embedding_bag(
            flat, self.table.weight, mode="sum", per_sample_weights=self.weights(flat), padding_idx=grams.PADDING
        )
        read = self._read(words.unflatten(0, bags.shape[:2]))
        return self.head(read), self.aside(read)

    def _read(self, words: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.lstm(self.dropout(words))[0])

    @torch.no_grad()
    def round_table(self) -> None:
        """Four bits a number: -7 to 7 times the row's scale, the one of several that loses least. Rows that nothing came by are
        as they were drawn: noise, which is put to nothing."""
        weight = self.table.weight
        weight[~self.met & self.met.any()] = 0
        widest = weight.abs().amax(1).clamp(min=1e-8)
        best = torch.full_like(widest, torch.inf)
        rounded = torch.empty_like(weight)
        for share in (1.0, 0.9, 0.8, 0.7, 0.6):
            scale = (widest * share / 7).half().float().clamp(min=1e-6)
            tried = (weight / scale[:, None]).round().clamp(-7, 7) * scale[:, None]
            lost = (tried - weight).square().sum(1)
            better = lost < best
            best = torch.where(better, lost, best)
            self.scale[better] = scale[better]
            rounded[better] = tried[better]
        weight.copy_(rounded)
        weight.requires_grad_(False)


@dataclass
class GramTrained:
    """The trained network with the names of its outputs, its languages, the words it knows, and how each epoch did."""

    model: GramTagger
    names: list[str]
    languages: list[str]
    known: KnownWords
    history: list[dict[str, float]]


def train(
    material: TrainingMaterial, options: GramTraining, say: Callable[[str], None], checkpoint: Path
) -> GramTrained:
    """Fit from nothing, from a network that is there, or from the checkpoint of a build that was interrupted, which is written
    after each epoch."""
    names = label_names(material.types())
    languages = sorted({e.language for pool in material.pools.values() for e in pool} - {""})
    others = sorted({slot for pool in material.pools.values() for e in pool for _, slot in e.aside} | {""})
    torch.manual_seed(options.seed)
    known = known_words(material, options.known)
    bank, model = Bank(options.rows, languages, names, others, known), GramTagger(options, len(names), len(others))
    if options.start:
        start_from(model, Path(options.start), names, languages)
    ema = torch.optim.swa_utils.get_ema_multi_avg_fn
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=ema(options.average))
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.01, fused=True)
    trained, first = GramTrained(mean.module, names, languages, known, []), 0
    if checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(kept["model"])
        mean.load_state_dict(kept["mean"])
        optimiser.load_state_dict(kept["optimiser"])
        trained.history, first = kept["history"], kept["epoch"]
        if first > options.epochs - options.settle:
            model.table.weight.requires_grad_(False)
            mean.multi_avg_fn = ema(SETTLED_AVERAGE)
    dev = [
        bank.row(e) for part in material.dev.values() for e in part[::4]
    ]  # a look now and then; what ships is tuned on all
    for epoch in range(first, options.epochs):
        draw = np.random.default_rng((options.seed, epoch))
        torch.manual_seed(options.seed + epoch)
        if epoch == options.epochs - options.settle:
            mean.module.round_table()
            model.load_state_dict(mean.module.state_dict())
            model.table.weight.requires_grad_(False)
            mean.multi_avg_fn = ema(SETTLED_AVERAGE)
        rows = [bank.row(example) for example in material.epoch(draw)]
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
    model: GramTagger, mean: Any, optimiser: torch.optim.Optimizer, bank: Bank, rows: Sequence[Row], epoch: int,
    options: GramTraining, draw: np.random.Generator,
) -> float:  # fmt: skip
    model.train()
    plan = list(bank.batches(rows, options.batch, draw))[: options.batches_per_epoch or None]
    losses = []
    for at, (words, targets, others) in enumerate(plan):
        for group in optimiser.param_groups:
            group["lr"] = options.rate(epoch, at / len(plan))
        words = np.where((targets > 0) & (draw.random(words.shape) < options.hide), 0, words)
        bags = bank.bags(words)
        model.met[torch.from_numpy(bags)] = True
        bags = _forgotten(bags, options, draw)
        scores, slots = model.quick(torch.from_numpy(bags))
        loss = _loss(scores, targets)
        if (others != IGNORED).any():
            loss = loss + options.aside * _loss(slots, others)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        optimiser.step()
        mean.update_parameters(model)
        losses.append(loss.item())
    return float(np.mean(losses))


def _loss(scores: torch.Tensor, targets: np.ndarray) -> torch.Tensor:
    return nn.functional.cross_entropy(scores.flatten(0, 1), torch.from_numpy(targets).flatten(), ignore_index=IGNORED)


def _forgotten(bags: np.ndarray, options: GramTraining, draw: np.random.Generator) -> np.ndarray:
    """Some words are known by their parts only, some without their lists."""
    whole = (bags[..., 0] >= grams.RESERVED) & (draw.random(bags.shape[:2]) < options.forget_words)
    bags[..., 0] = np.where(whole, grams.PADDING, bags[..., 0])
    untold = (draw.random(bags.shape[:2]) < options.forget_lists)[..., None]
    return np.where(untold & (bags >= grams.LISTED) & (bags < grams.RESERVED), grams.PADDING, bags)


def _scores(model: GramTagger, bank: Bank, dev: Sequence[Row]) -> dict[str, float]:
    """Recall of "this word is sensitive", whatever the type, where 3 % of the other words are touched, and at the best F1."""
    model.eval()
    inside, gold = [], []
    with torch.inference_mode():
        for words, targets, _ in bank.batches(dev, 512, None):
            outside = model.quick(torch.from_numpy(bank.bags(words)))[0].softmax(-1)[..., 0].numpy()
            known = targets != IGNORED
            inside.append(1 - outside[known])
            gold.append(targets[known] > 0)
    score, sensitive = np.concatenate(inside), np.concatenate(gold)
    threshold = np.quantile(score[~sensitive], 0.97)
    hit, said = int((sensitive & (score > 0.5)).sum()), int((score > 0.5).sum())
    return {
        "recall_at_3": float((score[sensitive] > threshold).mean()),
        "f1": 2 * hit / max(said + int(sensitive.sum()), 1),
    }
