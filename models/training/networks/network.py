"""What the intent and slot models share: a sentence becomes word vectors and a sentence vector, then labels.

Loss of a row: cross entropy of the intent plus the negative log likelihood of the tags.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sottovoce.models.training.batches import Batch
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks import crf
from sottovoce.models.training.networks.crf import Transitions


@dataclass
class Answer:
    """Probabilities of the intents, most probable tags, and the probability of each tag at each place."""

    intents: Tensor
    tags: Tensor
    tag_probabilities: Tensor


class IntentSlotNetwork(nn.Module):
    """`reader` maps a batch to (word vectors [rows, words, width], sentence vectors [rows, width])."""

    def __init__(self, reader: nn.Module, width: int, labels: Labels):
        super().__init__()
        self.reader = reader
        self.intent_head = nn.Linear(width, len(labels.intents))
        self.tag_head = nn.Linear(width, len(labels.tags))
        self.transitions = Transitions(len(labels.tags))

    def scores(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        words, sentence = self.reader(batch.features, batch.lengths)
        # the recursion of the tags multiplies many small numbers: it stays in single precision under autocast
        intents, emissions = self.intent_head(sentence), self.tag_head(words)
        if emissions.dtype == torch.bfloat16:
            intents, emissions = intents.float(), emissions.float()
        return intents, emissions, self.transitions(len(batch))

    def forward(self, batch: Batch) -> Tensor:
        """[rows]: the loss of each row."""
        intents, emissions, transitions = self.scores(batch)
        of_intent = nn.functional.cross_entropy(intents, batch.intents, reduction="none")
        return of_intent + crf.negative_log_likelihood(emissions, transitions, batch.tags, batch.lengths)

    @torch.no_grad()
    def answer(self, batch: Batch) -> Answer:
        intents, emissions, transitions = self.scores(batch)
        return Answer(
            intents.softmax(-1),
            crf.best_path(emissions, transitions, batch.lengths),
            crf.marginals(emissions, transitions, batch.lengths),
        )
