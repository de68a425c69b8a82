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

from sottovoce.models.training.batches import Batch
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks.bert import Bert
from sottovoce.models.training.networks.clc import Clc, ClcReader


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


class OpacusLstm(nn.Module):
    def __init__(self, inputs: int, hidden: int, layers: int):
        super().__init__()
        self.lstm = DPLSTM(inputs, hidden, layers, batch_first=True, bidirectional=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.lstm(words)[0]


class ThreeAxes(nn.Module):
    """Opacus' rule for linear layers ends at three axes; more would silently count nothing."""

    def __init__(self, linear: nn.Linear):
        super().__init__()
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x.flatten(1, 2)).unflatten(1, x.shape[1:3])


class OpacusNetwork(nn.Module):
    def __init__(self, member: Clc | Bert, labels: Labels):
        super().__init__()
        self.inner = member.network(labels)
        self.inner.transitions = nn.Identity()
        self.transitions = AnchoredTransitions(len(labels.tags))
        if isinstance(member, Clc) and isinstance(self.inner.reader, ClcReader):
            width = member.word_size + member.filters
            self.inner.reader.lstms = nn.ModuleList([OpacusLstm(width, member.hidden, member.layers)])
            self.inner.reader.convolve = ThreeAxes(self.inner.reader.convolve)  # type: ignore[assignment]

    def forward(self, batch: Batch) -> Tensor:
        from sottovoce.models.training.networks import crf

        words, sentence = self.inner.reader(batch.features, batch.lengths)
        intents, emissions = self.inner.intent_head(sentence), self.inner.tag_head(words)
        of_intent = nn.functional.cross_entropy(intents, batch.intents, reduction="none")
        return of_intent + crf.negative_log_likelihood(emissions, self.transitions(sentence), batch.tags, batch.lengths)


def opacus_step(member: Clc | Bert, labels: Labels, batch: Batch, ghost: bool) -> Callable[[int], None]:
    network = OpacusNetwork(member, labels)
    kind: Any = GradSampleModuleFastGradientClipping if ghost else GradSampleModule
    options = {"max_grad_norm": 1.0, "use_ghost_clipping": True} if ghost else {}
    wrapped = kind(network, batch_first=True, loss_reduction="mean", strict=False, **options)
    inner = torch.optim.Adam(wrapped.parameters(), 1e-3, fused=True)
    make: Any = DPOptimizerFastGradientClipping if ghost else DPOptimizer
    optimizer = make(inner, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=len(batch))

    def step(number: int) -> None:
        optimizer.zero_grad()
        losses = wrapped(batch)
        if ghost:
            DPTensorFastGradientClipping(wrapped, optimizer, losses, loss_reduction="mean").backward()
        else:
            losses.mean().backward()
        optimizer.step()

    return step
