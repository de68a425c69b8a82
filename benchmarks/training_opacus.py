"""The same models under Opacus, for comparison only: its LSTM, and a transition table that its hooks can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from opacus import GradSampleModule
from opacus.grad_sample import register_grad_sampler, register_norm_sampler
from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import GradSampleModuleFastGradientClipping
from opacus.layers import DPLSTM
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping
from torch import Tensor, nn
from training_cases import Case

from sottovoce.models.training.batches import Batch
from sottovoce.models.training.networks.bag import Bag
from sottovoce.models.training.networks.clc import Clc
from sottovoce.models.training.networks.norms import Affine


class AnchoredTransitions(nn.Module):
    """A layer of one input, on which its output hangs in the graph: otherwise no backward hook is called."""

    def __init__(self, tags: int):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(tags + 2, tags).uniform_(-0.1, 0.1))

    def forward(self, anchor: Tensor) -> Tensor:
        return self.scores.expand(len(anchor), -1, -1) + 0 * anchor[:, :1, None]


@register_grad_sampler(AnchoredTransitions)
def _gradients(layer: AnchoredTransitions, activations: list[Tensor], backprops: Tensor) -> dict[nn.Parameter, Tensor]:
    return {layer.scores: backprops}


@register_norm_sampler(AnchoredTransitions)
def _norms(layer: AnchoredTransitions, activations: list[Tensor], backprops: Tensor) -> dict[nn.Parameter, Tensor]:
    return {layer.scores: backprops.flatten(1).norm(dim=1)}


@register_grad_sampler(Affine)
def _of_affine(layer: Affine, activations: list[Tensor], backprops: Tensor) -> dict[nn.Parameter, Tensor]:
    return {layer.weight: (activations[0] * backprops).sum(2), layer.bias: backprops.sum(2)}


@register_norm_sampler(Affine)
def _norms_of_affine(layer: Affine, activations: list[Tensor], backprops: Tensor) -> dict[nn.Parameter, Tensor]:
    return {one: own.norm(dim=1) for one, own in _of_affine(layer, activations, backprops).items()}


class OpacusLstm(nn.Module):
    def __init__(self, inputs: int, hidden: int, layers: int, both_ways: bool):
        super().__init__()
        self.lstm = DPLSTM(inputs, hidden, layers, batch_first=True, bidirectional=both_ways)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.lstm(words)[0]


class ThreeAxes(nn.Module):
    """Opacus' rule for linear layers ends at three axes; more would silently count nothing."""

    def __init__(self, linear: nn.Linear):
        super().__init__()
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x.flatten(1, 2)).unflatten(1, x.shape[1:3])


class WordsApart(nn.Module):
    """A bag of words as an embedding of each, which Opacus has rules for."""

    def __init__(self, bag: Bag):
        super().__init__()
        self.embed = nn.Embedding(*bag.weight.shape)

    def forward(self, words: Tensor) -> Tensor:
        present = (words > 0).unsqueeze(-1)
        return (self.embed(words) * present).sum(2) / present.sum(2).clamp_min(1)


class OpacusIntents(nn.Module):
    """Intents and slots: the table of transitions hangs on the sentence."""

    def __init__(self, case: Case):
        super().__init__()
        self.inner = case.with_lstms_of(OpacusLstm)
        self.inner.transitions = nn.Identity()
        self.transitions = AnchoredTransitions(len(case.schema.tags))
        if isinstance(case.member, Clc):
            self.inner.reader.convolve = ThreeAxes(self.inner.reader.convolve)

    def forward(self, batch: Batch) -> Tensor:
        from sottovoce.models.training.networks import crf

        words, sentence = self.inner.reader(batch.features, batch.lengths)
        intents, emissions = self.inner.intent_head(sentence), self.inner.tag_head(words)
        of_intent = nn.functional.cross_entropy(intents, batch.intents, reduction="none")
        return of_intent + crf.negative_log_likelihood(emissions, self.transitions(sentence), batch.tags, batch.lengths)


def opacus_step(case: Case, rows: list[Any], ghost: bool) -> Callable[[int], None]:
    network = OpacusIntents(case) if case.member.task == "slu" else case.with_lstms_of(OpacusLstm)
    if isinstance(getattr(network, "words", None), Bag):
        network.words = WordsApart(network.words)
    kind: Any = GradSampleModuleFastGradientClipping if ghost else GradSampleModule
    options = {"max_grad_norm": 1.0, "use_ghost_clipping": True} if ghost else {}
    wrapped = kind(network, batch_first=True, loss_reduction="mean", strict=False, **options)
    inner = torch.optim.Adam(wrapped.parameters(), 1e-3, fused=True)
    make: Any = DPOptimizerFastGradientClipping if ghost else DPOptimizer
    optimizer = make(inner, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=len(rows))

    def step(number: int) -> None:
        optimizer.zero_grad()
        losses = wrapped(case.task.collate(rows))
        if ghost:
            DPTensorFastGradientClipping(wrapped, optimizer, losses, loss_reduction="mean").backward()
        else:
            losses.mean().backward()
        optimizer.step()

    return step
