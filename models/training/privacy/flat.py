"""All gradients of a network in one vector, so that clipping, noise and the exchange between devices are few operations."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from sottovoce.models.training.rounding import whole_length


class FlatGradients:
    """`vector` holds the gradients; each parameter's `.grad` is a view of its stretch, but between `let_go` and `clip`."""

    def __init__(self, network: nn.Module):
        named = [(name, p) for name, p in network.named_parameters() if p.requires_grad]
        self.names = [name for name, _ in named]
        self.parameters = [p for _, p in named]
        sizes = [p.numel() for p in self.parameters]
        self.sizes = dict(zip(self.names, sizes, strict=True))
        self.vector = torch.zeros(sum(sizes), device=self.parameters[0].device)
        self.stretches = dict(zip(self.names, self.vector.split(sizes), strict=True))
        self._views = [s.view_as(p) for s, p in zip(self.stretches.values(), self.parameters, strict=True)]
        self._weights: tuple[dict[str, float], Tensor] | None = None
        self._attach()

    def clear(self) -> None:
        """What is computed next is added to zeros."""
        self.vector.zero_()
        self._attach()

    def let_go(self) -> None:
        """What is computed next stays where autograd puts it, until `clip` takes it: a pass less over all gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    def clip(self, norm: float, alphas: dict[str, float] | None, share: float = 1.0) -> Tensor:
        """Scale the whole so that g_k / alpha_k, taken together, are at most `norm` long, and take `share` of that.

        Returns the length before.
        """
        found = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        lengths = torch.stack([whole_length(gradient) for gradient in found])  # never too short
        if alphas is not None:
            lengths = lengths / torch.tensor([alphas[name] for name in self.names]).to(lengths)
        length = torch.linalg.vector_norm(lengths)
        scale = ((norm / length.clamp_min(1e-30)).clamp_max(1.0) * share).to(self.vector.dtype)
        for gradient, view in zip(found, self._views, strict=True):
            torch.mul(gradient, scale, out=view)
        self._attach()
        return length

    def add_noise(self, noise: Iterable[tuple[int, Tensor]], std: float, alphas: dict[str, float] | None) -> None:
        """`noise` comes in pieces with their places, still warm in the cache."""
        weights = self._per_coordinate(alphas) if alphas is not None else None
        for begin, normals in noise:
            there = slice(begin, begin + len(normals))
            if weights is None:
                self.vector[there].add_(normals, alpha=std)
            else:
                self.vector[there].addcmul_(normals, weights[there], value=std)

    def _per_coordinate(self, alphas: dict[str, float]) -> Tensor:
        if self._weights is None or self._weights[0] != alphas:
            of_layer = torch.tensor([alphas[name] for name in self.names], device=self.vector.device)
            sizes = torch.tensor(list(self.sizes.values()), device=self.vector.device)
            self._weights = dict(alphas), of_layer.repeat_interleave(sizes)
        return self._weights[1]

    def _attach(self) -> None:
        for parameter, view in zip(self.parameters, self._views, strict=True):
            parameter.grad = view
