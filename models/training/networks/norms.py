"""Normalisations of speech in a network, and what each does to privacy (COMPRISE D2.3 section 4.4).

Batch normalisation makes deep networks trainable, and its statistics make a row's gradient depend on all rows of the batch.
What `statistics` are taken over decides whether clipping a row's gradient bounds what the row can change:

    paper         private rows and public ones together (D2.3, Alg. 1): all L rows move when one does, up to 2 L C, not 2 C
    public        public rows only, measured once a step                                  a row moves by its own 2 C
    with_public   each row by itself with the public ones                                 the same
    group         each row by itself                                                      the same
    layer         each frame by itself                                                    the same

Statistics count for constants in the gradient, but those of a row in its own. Frames beyond the end of a row count nowhere,
and are zero after each layer: otherwise the longest row of a batch would have a say in all others.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Statistics = Literal["paper", "public", "with_public", "group", "layer", "none"]
LEAST = 1e-5


class Affine(nn.Module):
    """weight * x + bias, one of each for a channel; x [rows, channels, frames]."""

    def __init__(self, channels: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight[:, None] + self.bias[:, None]


class Norm(nn.Module):
    """`measure` makes the next pass one over public rows, whose statistics are kept, with the weights and in the export."""

    public_frames: Tensor
    public_mean: Tensor
    public_square: Tensor

    def __init__(self, channels: int, statistics: Statistics):
        super().__init__()
        self.statistics, self.measure = statistics, False
        self.affine = Affine(channels)
        self.register_buffer("public_frames", torch.zeros(()))
        self.register_buffer("public_mean", torch.zeros(channels))
        self.register_buffer("public_square", torch.ones(channels))

    def forward(self, x: Tensor, inside: Tensor) -> Tensor:
        """`inside` [rows, 1, frames] is 1 where a row has a frame."""
        if self.statistics == "none":
            return self.affine(x) * inside
        mean, square = self._moments(x, inside)
        normed = (x - mean) * torch.rsqrt((square - mean.square()).clamp_min(0) + LEAST)
        return self.affine(normed) * inside

    def _moments(self, x: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
        """Means of x and of its square, of a shape that spreads over x."""
        if self.statistics == "layer":
            return x.mean(1, keepdim=True), x.square().mean(1, keepdim=True)
        if self.statistics == "group":
            frames = inside.sum(2, keepdim=True).clamp_min(1) * x.shape[1]
            return (x * inside).sum((1, 2), keepdim=True) / frames, (x.square() * inside).sum(
                (1, 2), keepdim=True
            ) / frames
        if self.measure:
            self._keep(x.detach(), inside)
        known = self.public_frames, self.public_mean[None, :, None], self.public_square[None, :, None]
        if self.measure or self.statistics == "public" or (self.statistics == "paper" and not self.training):
            return known[1], known[2]
        over = (2,) if self.statistics == "with_public" else (0, 2)
        own = (x, x.square()) if self.statistics == "with_public" else (x.detach(), x.detach().square())
        frames = inside.sum(over, keepdim=True)
        whole = frames + known[0]
        mean, square = (((part * inside).sum(over, keepdim=True) + known[0] * public) / whole
                        for part, public in zip(own, known[1:], strict=True))  # fmt: skip
        return mean, square

    def _keep(self, x: Tensor, inside: Tensor) -> None:
        frames = inside.sum()
        self.public_frames.copy_(frames)
        self.public_mean.copy_((x * inside).sum((0, 2)) / frames)
        self.public_square.copy_((x.square() * inside).sum((0, 2)) / frames)
