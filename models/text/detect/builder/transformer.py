"""Train a token classifier on top of a small pre-trained encoder.

Scores of a word are the mean over its pieces, in training as in detection. The loss of a word is
-log sum_{labels it may have} p(label): for a word labelled O in a corpus that does not label dates, O or a date
(learning from partial labels, Jin and Ghahramani 2002). Word-piece embeddings stay frozen: names that were not seen in
training keep their place beside those that were.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from sottovoce.models.text.detect.builder.batches import Item, PieceBatch, batches, items, label_names
from sottovoce.models.text.detect.builder.recipe import TrainingMaterial
from sottovoce.models.text.detect.builder.start import start_from
from sottovoce.models.text.detect.pieces import CASES, Pieces


@dataclass(frozen=True)
class TaggerTraining:
    """`minutes` bounds the time: the learning rate then falls to zero at whichever end comes first.
    `batches_per_epoch`: at most so many (0: all), for a trial. `hide`: the share of word pieces hidden from the network, so
    that it learns from context. `average`: decay of a running mean of the weights, which is then what is kept (0: none).
    `start`: a checkpoint, or the folder of a tagger, to go on from.
    `keep`: the weights of the epoch that was best on dev data, or of the last one, where dev data says little of what is new.
    `stop_after`: end after so many epochs of the schedule (0: all).
    `hold`: how much it weighs that words of the corpora in `held` keep the scores that the network at the `start` gave them
    (distillation, Hinton et al. 2015; Li and Hoiem 2016), so that what was known is not forgotten for what is new."""

    epochs: int = 3
    minutes: float = 1e9
    learning_rate: float = 2e-4
    head_learning_rate: float = 1e-3
    pieces_per_batch: int = 512
    batches_per_epoch: int = 0
    longest: int = 64
    hide: float = 0.05
    dropout: float = 0.1
    encoder_dropout: float = 0.0
    average: float = 0.0
    patience: int = 2
    train_embeddings: bool = False
    seed: int = 20240607
    device: str = "cpu"
    start: str = ""
    keep: Literal["best", "last"] = "best"
    stop_after: int = 0
    hold: float = 0.0
    held: tuple[str, ...] = ()


class WordClassifier(nn.Module):
    """Encoder, dropout, linear layer: scores per piece. Case comes in where BERT tells two sentences apart (`token_type_ids`)."""

    def __init__(self, encoder: Any, labels: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(encoder.config.hidden_size, labels)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        return self.head(self.dropout(hidden))


@dataclass
class Trained:
    """The trained network with the names of its outputs, how each epoch did, and the weights that it began from."""

    model: WordClassifier
    names: list[str]
    history: list[dict[str, float]] = field(default_factory=list)
    start: dict[str, torch.Tensor] = field(default_factory=dict)


def load_encoder(folder: Path, dropout: float = 0.0) -> Any:
    """The encoder in a local folder. Its token types are replaced by the `CASES` of letter case, equal to begin with."""
    from transformers import AutoModel

    encoder = AutoModel.from_pretrained(
        folder,
        trust_remote_code=False,
        add_pooling_layer=False,
        local_files_only=True,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    kinds = encoder.embeddings.token_type_embeddings
    wider = nn.Embedding.from_pretrained(kinds.weight[:1].repeat(CASES, 1), freeze=False)
    encoder.embeddings.token_type_embeddings = wider
    encoder.config.type_vocab_size = CASES
    return encoder


def train(
    material: TrainingMaterial,
    encoder_folder: Path,
    options: TaggerTraining,
    say: Callable[[str], None],
    checkpoint: Path | None = None,
) -> Trained:
    """Fit, evaluate on dev after each epoch, keep the best, stop when dev no longer improves."""
    torch.manual_seed(options.seed)
    draw = np.random.default_rng(options.seed)
    names = label_names(material.types())
    pieces = Pieces(encoder_folder / "tokenizer.json")
    encoder = load_encoder(encoder_folder, options.encoder_dropout)
    model = WordClassifier(encoder, len(names), options.dropout).to(options.device)
    model.encoder.get_input_embeddings().weight.requires_grad_(options.train_embeddings)
    if options.start:
        start_from(model, Path(options.start), names)
    teacher = copy.deepcopy(model).eval() if options.hold else None
    optimiser, mean = _optimiser(model, options), _running_mean(model, options.average)
    kept: WordClassifier = mean.module if mean else model
    dev = items([e for part in material.dev.values() for e in part], pieces, names, options.longest)
    trained, clock = Trained(kept, names, start=_copy(kept) if options.start else {}), _Clock(options)
    best, best_weights, stale = -1.0, _copy(kept), 0
    while not clock.over and stale < options.patience and (clock.epoch < options.stop_after or not options.stop_after):
        seen = items(material.epoch(draw), pieces, names, options.longest)
        plan = list(batches(seen, pieces, names, options.pieces_per_batch, draw))
        for batch in clock.ticking(plan[: options.batches_per_epoch or None], say):
            clock.loss = _step(model, optimiser, batch, clock.progress, pieces, options, draw, teacher)
            if mean:
                mean.update_parameters(model)
        scores = any_label_scores(kept, dev, pieces, names, options)
        trained.history.append({"epoch": clock.epoch, "loss": clock.loss, **scores})
        say(f"epoch {clock.epoch}: dev " + " ".join(f"{key} {value:.4f}" for key, value in scores.items()))
        stale += 1
        if scores["f1"] >= best or options.keep == "last":
            best, best_weights, stale = scores["f1"], _copy(kept), 0
            if checkpoint is not None:
                torch.save({"names": names, "weights": best_weights}, checkpoint)
    kept.load_state_dict(best_weights)
    kept.eval()
    return trained


class _Clock:
    """How far the training is, by epochs or by minutes, whichever is further."""

    def __init__(self, options: TaggerTraining) -> None:
        self._options, self._started = options, time.monotonic()
        self.epoch, self.progress, self.loss = 0, 0.0, float("nan")

    @property
    def over(self) -> bool:
        return self.progress >= 1

    def ticking(self, plan: Sequence[PieceBatch], say: Callable[[str], None]) -> Iterator[PieceBatch]:
        for at, batch in enumerate(plan):
            minutes = (time.monotonic() - self._started) / 60
            self.progress = max((self.epoch + at / len(plan)) / self._options.epochs, minutes / self._options.minutes)
            if self.over:
                break
            yield batch
            if at % 100 == 0:
                say(f"epoch {self.epoch + 1} step {at}/{len(plan)} loss {self.loss:.4f} {minutes:.1f} min")
        self.epoch += 1
        self.progress = max(self.progress, self.epoch / self._options.epochs)


def _optimiser(model: WordClassifier, options: TaggerTraining) -> torch.optim.Optimizer:
    # Rows for case begin without meaning, as the head does.
    case = model.encoder.embeddings.token_type_embeddings.weight
    body = [p for p in model.encoder.parameters() if p.requires_grad and p is not case]
    head = [*model.head.parameters(), case]
    groups = [{"params": body, "peak": options.learning_rate}, {"params": head, "peak": options.head_learning_rate}]
    return torch.optim.AdamW(groups, lr=options.learning_rate, weight_decay=0.01, fused=True)


def _running_mean(model: WordClassifier, decay: float) -> Any:
    """The mean of the weights on the way is better than the last of them (Polyak and Juditsky 1992)."""
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay)) if decay else None


def _step(
    model: WordClassifier, optimiser: torch.optim.Optimizer, batch: PieceBatch, progress: float, pieces: Pieces,
    options: TaggerTraining, draw: np.random.Generator, teacher: WordClassifier | None = None,
) -> float:  # fmt: skip
    model.train()
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * min(progress / 0.05 + 0.02, 1.0, (1 - progress) / 0.95 + 0.01)
    hidden = (draw.random(batch.ids.shape) < options.hide) & (batch.word_of >= 0)
    scores = word_scores(model, batch, options.device, np.where(hidden, pieces.mask_id, batch.ids))
    allowed = torch.from_numpy(batch.allowed).to(options.device)
    masked = scores.masked_fill(~allowed, -1e9)
    loss = (scores.logsumexp(-1) - masked.logsumexp(-1)).mean()
    held = np.isin(batch.corpora, options.held)
    if teacher is not None and held.any():
        loss = loss + options.hold * _divergence(scores, teacher, batch, torch.from_numpy(held).to(options.device))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    return loss.item()


def _divergence(scores: torch.Tensor, teacher: WordClassifier, batch: PieceBatch, held: torch.Tensor) -> torch.Tensor:
    """Mean over all words of the batch, those that are not held counting nothing."""
    with torch.no_grad():
        known = word_scores(teacher, batch, str(scores.device)).log_softmax(-1)
    apart = (known.exp() * (known - scores.log_softmax(-1))).sum(-1)
    return (apart * held).mean()


def word_scores(model: nn.Module, batch: PieceBatch, device: str, ids: np.ndarray | None = None) -> torch.Tensor:
    """[words of the batch, labels]: the mean over the pieces of each word."""
    arrays = (batch.ids if ids is None else ids, batch.attention, batch.case)
    logits = model(*(torch.from_numpy(array).to(device) for array in arrays))
    word_of = torch.from_numpy(batch.word_of).to(device)
    real = word_of >= 0
    flat, index = logits[real], word_of[real]
    total = torch.zeros(len(batch.targets), logits.shape[-1], device=device).index_add_(0, index, flat)
    count = torch.zeros(len(batch.targets), 1, device=device).index_add_(
        0, index, torch.ones(len(index), 1, device=device)
    )
    return total / count.clamp(min=1)


def any_label_scores(
    model: WordClassifier, source: Sequence[Item], pieces: Pieces, names: Sequence[str], options: TaggerTraining
) -> dict[str, float]:
    """Recall and precision of "this word is sensitive", whatever the type."""
    model.eval()
    hit = said = gold = 0
    with torch.inference_mode():
        for batch in batches(source, pieces, names, 4096, None):
            found = word_scores(model, batch, options.device).argmax(-1).cpu().numpy() > 0
            counted = (batch.targets == 0) & (batch.allowed.sum(1) == 1) | (batch.targets > 0)
            hit += int((found & (batch.targets > 0)).sum())
            said += int((found & counted).sum())
            gold += int((batch.targets > 0).sum())
    recall, precision = hit / max(gold, 1), hit / max(said, 1)
    return {"recall": recall, "precision": precision, "f1": 2 * recall * precision / max(recall + precision, 1e-9)}


def _copy(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
