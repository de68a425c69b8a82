"""How the tagger of many languages is trained: sizes, shares and the course of its learning rate."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class GramTraining:
    """`cycles`: epochs after which the learning rate begins anew, half as high (Loshchilov and Hutter 2017, arXiv
    1608.03983); a cycle that another follows is left at five sixths of its way. `hide`: share of the words of entities that
    are hidden; `forget_words`: of words known by parts only; `forget_lists`: of words whose lists are not told. `aside`:
    weight of the other slots. `settle`: epochs after the table is rounded. `average`: decay of the running mean of the
    weights, which is kept. `known`: how often a word must be met to have a row of its own. `start`: the folder of a tagger of
    the same sizes, to go on from. `batches_per_epoch`: no more than these, for a trial; 0 for all."""

    rows: int = 1 << 17
    width: int = 80
    hidden: int = 112
    cycles: tuple[int, ...] = (20,)
    settle: int = 2
    learning_rate: float = 3e-3
    batch: int = 128
    dropout: float = 0.3
    hide: float = 0.15
    forget_words: float = 0.3
    forget_lists: float = 0.4
    aside: float = 0.3
    average: float = 0.9985
    known: int = 2
    start: str = ""
    batches_per_epoch: int = 0
    seed: int = 20240607

    @property
    def epochs(self) -> int:
        """Epochs in all; the last `settle` of them have the rounded table."""
        return sum(self.cycles)

    def rate(self, epoch: int, share: float) -> float:
        """The learning rate after a share of an epoch."""
        number = 0
        while number < len(self.cycles) - 1 and epoch >= self.cycles[number]:
            epoch -= self.cycles[number]
            number += 1
        last = number == len(self.cycles) - 1
        progress = (epoch + share) / (self.cycles[number] if last else 1.2 * self.cycles[number])
        height = min(progress / 0.02 + 0.02, 0.5 * (1 + math.cos(math.pi * progress)) + 0.005)
        return self.learning_rate * 0.5**number * height
