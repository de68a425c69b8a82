"""All gradients of a network in one vector, so that clipping, noise and the exchange between devices are few operations."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class FlatGradients:
    """`vector` holds the gradients; each parameter's `.grad` is a view of its stretch."""

    def __init__(self, network: nn.Module):
        named = [(name, p) for name, p in network.named_parameters() if p.requires_grad]
        self.names = [name for name, _ in named]
        self.parameters = [p for _, p in named]
        sizes = [p.numel() for p in self.parameters]
        self.sizes = dict(zip(self.names, sizes, strict=True))
        self.vector = torch.zeros(sum(sizes), device=self.parameters[0].device)
        stretches = self.vector.split(sizes)
        for parameter, stretch in zip(self.parameters, stretches, strict=True):
            parameter.grad = stretch.view_as(parameter)
        self.stretches = dict(zip(self.names, stretches, strict=True))

    def clear(self) -> None:
        self.vector.zero_()

    def clip(self, norm: float, alphas: dict[str, float] | None, share: float = 1.0) -> Tensor:
        """Scale the whole so that g_k / alpha_k, taken together, are at most `norm` long, and take `share` of that.

        Returns the length before.
        """
        if alphas is None:
            length = torch.linalg.vector_norm(self.vector)
        else:
            lengths = torch.stack(torch._foreach_norm(list(self.stretches.values())))
            scales = torch.tensor([alphas[name] for name in self.names], device=lengths.device)
            length = torch.linalg.vector_norm(lengths / scales)
        self.vector.mul_((norm / length.clamp_min(1e-12)).clamp_max(1.0) * share)
        return length

    def add_noise(self, noise: Tensor, std: float, alphas: dict[str, float] | None) -> None:
        if alphas is None:
            self.vector.add_(noise, alpha=std)
            return
        for name, stretch in zip(self.names, noise.split(list(self.sizes.values())), strict=True):
            self.stretches[name].add_(stretch, alpha=std * alphas[name])
