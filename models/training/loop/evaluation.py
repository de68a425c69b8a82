"""Run a model over data: its scores, and what it says about each sentence, which is what an attacker would see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sottovoce.models.training.batches import Batch, Encoded, collate
from sottovoce.models.training.examples import Example, Labels
from sottovoce.models.training.loop.scores import Scores, Understood, score
from sottovoce.models.training.networks.network import Answer, IntentSlotNetwork

ROWS = 128
TOP = 3


@dataclass(frozen=True)
class Confidence:
    """`features` are the sorted scores of the published attack; `log_odds` of the true labels serve per-example attacks."""

    features: np.ndarray
    log_odds: np.ndarray


def evaluate(
    network: IntentSlotNetwork, rows: Sequence[Encoded], examples: Sequence[Example], labels: Labels
) -> Scores:
    """Scores of the network's intents and slots; a word beyond the length it reads counts as answered with O."""
    pairs = []
    for begin, batch, answer in _answers(network, rows):
        best, tags = answer.intents.argmax(-1).tolist(), answer.tags.tolist()
        for offset, length in enumerate(batch.lengths.tolist()):
            example = examples[begin + offset]
            said = [labels.tags[tag] for tag in tags[offset][:length]]
            said += ["O"] * (len(example.tags) - length)  # words beyond what the model reads
            pairs.append(
                (Understood(example.intent, example.tags), Understood(labels.intents[best[offset]], tuple(said)))
            )
    return score(pairs)


def confidence(network: IntentSlotNetwork, rows: Sequence[Encoded]) -> Confidence:
    """Per example: the sorted highest intent scores, the sorted lowest and mean slot scores, and log odds of the truth."""
    features, log_odds = [], []
    for _, batch, answer in _answers(network, rows):
        intents = answer.intents.sort(-1, descending=True).values
        intents = torch.nn.functional.pad(intents, (0, TOP))[:, :TOP]
        width = answer.tag_probabilities.shape[1]
        inside = torch.arange(width, device=intents.device) < batch.lengths.unsqueeze(-1)
        best = answer.tag_probabilities.amax(-1)
        lowest = torch.nn.functional.pad(best.masked_fill(~inside, 1.0).sort(-1).values, (0, TOP), value=1.0)[:, :TOP]
        mean = (best * inside).sum(-1, keepdim=True) / batch.lengths.unsqueeze(-1)
        features.append(torch.cat([intents, lowest, mean], -1))
        truth = answer.intents.gather(-1, batch.intents.clamp_min(0).unsqueeze(-1)).squeeze(-1)
        tags = answer.tag_probabilities.gather(-1, batch.tags.clamp_min(0).unsqueeze(-1)).squeeze(-1)
        tag_mean = (tags * inside).sum(-1) / batch.lengths
        log_odds.append(torch.logit(truth.double(), 1e-6) + torch.logit(tag_mean.double(), 1e-6))
    return Confidence(torch.cat(features).double().cpu().numpy(), torch.cat(log_odds).cpu().numpy())


def _answers(network: IntentSlotNetwork, rows: Sequence[Encoded]) -> Iterator[tuple[int, Batch, Answer]]:
    device = next(network.parameters()).device
    was_training = network.training
    network.eval()
    for begin in range(0, len(rows), ROWS):
        batch = collate(rows[begin : begin + ROWS]).to(device)
        yield begin, batch, network.answer(batch)
    network.train(was_training)
