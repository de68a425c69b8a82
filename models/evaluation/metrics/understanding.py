"""A small reader of intents and slots, trained in seconds: the yardstick for what a transformed corpus is still worth.

Word vectors, one convolution over five words (Kim 2014, arXiv 1408.5882); its maximum over time gives the intent, its
value at each word the slot tag. It knows only the words of its training data: what a replacement takes away from the
corpus, no pretrained vector gives back. A word seen once is read as unknown half of the time, so unknown has a vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.models.evaluation.metrics.utility import Score, Sentence, score

PADDING, UNKNOWN = 0, 1
IGNORED = -100


@dataclass(frozen=True)
class ReaderTraining:
    """How the yardstick is trained: the same for every corpus that is compared."""

    epochs: int = 8
    batch: int = 32
    rate: float = 4e-3
    width: int = 64
    dropout: float = 0.3


class _Network(nn.Module):
    def __init__(self, words: int, intents: int, tags: int, training: ReaderTraining):
        super().__init__()
        self.words = nn.Embedding(words, training.width, padding_idx=PADDING)
        self.context = nn.Linear(5 * training.width, 2 * training.width)
        self.drop = nn.Dropout(training.dropout)
        self.intent = nn.Linear(2 * training.width, intents)
        self.tag = nn.Linear(3 * training.width, tags)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """[rows, words] -> scores of intents [rows, intents] and of tags [rows, words, tags]."""
        own = self.drop(self.words(ids))
        padded = nn.functional.pad(own, (0, 0, 2, 2))
        around = self.context(torch.cat([padded[:, at : at + ids.shape[1]] for at in range(5)], -1)).relu()
        pooled = around.masked_fill((ids == PADDING).unsqueeze(-1), 0.0).amax(1)
        return self.intent(self.drop(pooled)), self.tag(torch.cat([own, around], -1))


class IntentReader:
    """Learns from sentences with `fit`, and is measured on others with `measure`. Same seed, same result."""

    def __init__(self, training: ReaderTraining | None = None):
        self.training = training or ReaderTraining()

    def fit(self, sentences: Sequence[Sentence], seed: int) -> IntentReader:
        counts = Counter(word.lower() for sentence in sentences for word in sentence.words)
        self._ids = {word: at for at, word in enumerate(sorted(counts), UNKNOWN + 1)}
        rare = np.array([False, False, *(counts[word] == 1 for word in self._ids)])
        self._intents = sorted({sentence.intent for sentence in sentences})
        self._tags = ["O", *sorted({tag for sentence in sentences for tag in sentence.tags} - {"O"})]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._network = _Network(len(rare), len(self._intents), len(self._tags), self.training)
            self._learn(sentences, rare, np.random.default_rng(seed))
        return self

    def _learn(self, sentences: Sequence[Sentence], rare: np.ndarray, draw: np.random.Generator) -> None:
        intent_ids = {name: at for at, name in enumerate(self._intents)}
        tag_ids = {name: at for at, name in enumerate(self._tags)}
        rows = [[self._ids[word.lower()] for word in sentence.words] for sentence in sentences]
        tags = [[tag_ids[tag] for tag in sentence.tags] for sentence in sentences]
        intents = np.array([intent_ids[sentence.intent] for sentence in sentences])
        steps = self.training.epochs * -(-len(rows) // self.training.batch)
        optimizer = torch.optim.Adam(self._network.parameters(), self.training.rate)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
        self._network.train()
        for _ in range(self.training.epochs):
            for chosen in _batches([len(row) for row in rows], self.training.batch, draw):
                ids = _padded([rows[at] for at in chosen], PADDING)
                hidden = rare[ids] & (draw.random(ids.shape) < 0.5)
                of_intent, of_tags = self._network(torch.from_numpy(np.where(hidden, UNKNOWN, ids)))
                wanted = torch.from_numpy(_padded([tags[at] for at in chosen], IGNORED))
                loss = nn.functional.cross_entropy(of_intent, torch.from_numpy(intents[chosen]))
                loss = loss + nn.functional.cross_entropy(of_tags.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()

    @torch.no_grad()
    def measure(self, sentences: Sequence[Sentence]) -> Score:
        """How well its best guesses fit the labels; a word that was not in the training data is read as unknown."""
        self._network.eval()
        answers: list[tuple[str, list[str]]] = []
        for begin in range(0, len(sentences), 256):
            group = sentences[begin : begin + 256]
            ids = _padded([[self._ids.get(word.lower(), UNKNOWN) for word in one.words] for one in group], PADDING)
            of_intent, of_tags = self._network(torch.from_numpy(ids))
            best = of_tags.argmax(-1).tolist()
            for one, intent, tags in zip(group, of_intent.argmax(-1).tolist(), best, strict=True):
                answers.append((self._intents[intent], [self._tags[tag] for tag in tags[: len(one.words)]]))
        return score(sentences, answers)


def _batches(lengths: Sequence[int], size: int, draw: np.random.Generator) -> list[np.ndarray]:
    """Random batches of like lengths, in random order: no padding to speak of."""
    by_length = np.lexsort((draw.random(len(lengths)), np.asarray(lengths) + draw.integers(-1, 2, len(lengths))))
    groups = [by_length[begin : begin + size] for begin in range(0, len(by_length), size)]
    return [groups[at] for at in draw.permutation(len(groups))]


def _padded(rows: Sequence[Sequence[int]], filler: int) -> np.ndarray:
    table = np.full((len(rows), max(map(len, rows))), filler, dtype=np.int64)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table
