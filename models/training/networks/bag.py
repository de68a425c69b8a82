"""The mean of the vectors of words, without a vector for each word being written down first."""

from __future__ import annotations

from torch import Tensor, nn


class Bag(nn.Embedding):
    """words [rows, bags, words of a bag] -> [rows, bags, width]; 0 is no word, and a bag without words is zero."""

    def forward(self, words: Tensor) -> Tensor:
        means = nn.functional.embedding_bag(words.flatten(0, -2), self.weight, mode="mean", padding_idx=0)
        return means.unflatten(0, words.shape[:-1])
