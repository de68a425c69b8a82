"""The network of the CTC learner: one strided convolution, then residual ones whose context grows to about a second."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sottovoce.models.speech.mel_bands import BANDS

WIDTH, STRIDE, FIRST_KERNEL, KERNEL = 128, 3, 9, 5
DILATIONS = (1, 1, 2, 2, 4, 1)


class CtcNetwork(nn.Module):
    """Bands [batch, frames, BANDS] -> log probabilities of labels [batch, a third of the frames, labels]."""

    def __init__(self, labels: int):
        super().__init__()
        self.first = nn.Conv1d(BANDS, WIDTH, FIRST_KERNEL, STRIDE, FIRST_KERNEL // 2)
        self.first_norm = nn.BatchNorm1d(WIDTH)
        self.layers = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, KERNEL, padding=KERNEL // 2 * dilation, dilation=dilation, bias=False)
            for dilation in DILATIONS
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in DILATIONS)
        self.drop = nn.Dropout(0.15)
        self.last = nn.Conv1d(WIDTH, labels, 1)

    def forward(self, bands: Tensor) -> Tensor:
        x = torch.relu(self.first_norm(self.first(bands.transpose(1, 2))))
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + self.drop(torch.relu(norm(layer(x))))
        return torch.log_softmax(self.last(x).transpose(1, 2), -1)


def frames_out(frames: int) -> int:
    """How many frames of labels come out for so many frames of bands: a third of them, rounded up."""
    return (frames - 1) // STRIDE + 1
