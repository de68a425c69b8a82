"""The CAM++ network: densely connected time-delay layers, each gated by the context around a frame.

Wang et al., "CAM++: A fast and efficient network for speaker verification using context-aware masking", Interspeech
2023: section 3.1 (two-dimensional front end), 3.2 (densely connected layers), 3.3 (the mask: sigmoid of two affine layers
over the mean of the utterance plus the mean of the 100 frames around). Names of members follow the published weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

BANDS, EMBEDDING = 80, 192
CHANNELS, WIDTH, GROWTH, BOTTLENECK = 32, 128, 32, 128
BLOCKS = ((12, 1), (24, 2), (16, 2))  # layers and dilation of each
CONTEXT_FRAMES = 100


class Residual(nn.Module):
    """Two convolutions over bands and time; `stride` steps over bands only."""

    def __init__(self, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(CHANNELS, CHANNELS, 3, (stride, 1), 1, bias=False)
        self.bn1 = nn.BatchNorm2d(CHANNELS)
        self.conv2 = nn.Conv2d(CHANNELS, CHANNELS, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(CHANNELS)
        self.shortcut = nn.Sequential()
        if stride != 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(CHANNELS, CHANNELS, 1, (stride, 1), bias=False), nn.BatchNorm2d(CHANNELS)
            )

    def forward(self, x: Tensor) -> Tensor:
        inner = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(inner + self.shortcut(x))


class FrontEnd(nn.Module):
    """Bands [batch, 80, frames] -> [batch, 320, frames]: eight times fewer bands, 32 channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, CHANNELS, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(CHANNELS)
        self.layer1 = nn.Sequential(Residual(2), Residual(1))
        self.layer2 = nn.Sequential(Residual(2), Residual(1))
        self.conv2 = nn.Conv2d(CHANNELS, CHANNELS, 3, (2, 1), 1, bias=False)
        self.bn2 = nn.BatchNorm2d(CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.bn1(self.conv1(x[:, None])))
        x = self.layer2(self.layer1(x))
        return functional.relu(self.bn2(self.conv2(x))).flatten(1, 2)


def normalised(channels: int, affine: bool = True, relu: bool = True) -> nn.Sequential:
    """Batch normalisation and, unless it is not wanted, a ReLU: the pair that stands before or after each layer."""
    layers = nn.Sequential()
    layers.add_module("batchnorm", nn.BatchNorm1d(channels, affine=affine))
    if relu:
        layers.add_module("relu", nn.ReLU())
    return layers


class NormalisedConvolution(nn.Module):
    """A convolution over time, then normalised: halves the frame rate once, at the entry."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Conv1d(CHANNELS * BANDS // 8, WIDTH, 5, 2, 2, bias=False)
        self.nonlinear = normalised(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.nonlinear(self.linear(x))


class ContextMask(nn.Module):
    """Gates a layer by what is around a frame: the whole recording, and a segment of it."""

    def __init__(self, dilation: int):
        super().__init__()
        self.linear_local = nn.Conv1d(BOTTLENECK, GROWTH, 3, 1, dilation, dilation, bias=False)
        self.linear1 = nn.Conv1d(BOTTLENECK, BOTTLENECK // 2, 1)
        self.linear2 = nn.Conv1d(BOTTLENECK // 2, GROWTH, 1)

    def forward(self, x: Tensor) -> Tensor:
        around = functional.avg_pool1d(x, CONTEXT_FRAMES, CONTEXT_FRAMES, ceil_mode=True)
        around = around.repeat_interleave(CONTEXT_FRAMES, dim=-1)[..., : x.shape[-1]]
        context = x.mean(dim=-1, keepdim=True) + around
        return self.linear_local(x) * torch.sigmoid(self.linear2(functional.relu(self.linear1(context))))


class DenseLayer(nn.Module):
    """One layer of a block, whose output is joined to all that came before it."""

    def __init__(self, channels: int, dilation: int):
        super().__init__()
        self.nonlinear1 = normalised(channels)
        self.linear1 = nn.Conv1d(channels, BOTTLENECK, 1, bias=False)
        self.nonlinear2 = normalised(BOTTLENECK)
        self.cam_layer = ContextMask(dilation)

    def forward(self, x: Tensor) -> Tensor:
        return self.cam_layer(self.nonlinear2(self.linear1(self.nonlinear1(x))))


class DenseBlock(nn.Module):
    """Every layer sees the outputs of all before it."""

    def __init__(self, layers: int, channels: int, dilation: int):
        super().__init__()
        for index in range(layers):
            self.add_module(f"tdnnd{index + 1}", DenseLayer(channels + GROWTH * index, dilation))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():
            x = torch.cat([x, layer(x)], dim=1)
        return x


class Transit(nn.Module):
    """Halves the channels between two blocks."""

    def __init__(self, channels: int):
        super().__init__()
        self.nonlinear = normalised(channels)
        self.linear = nn.Conv1d(channels, channels // 2, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(self.nonlinear(x))


class Statistics(nn.Module):
    """Mean and deviation over time: a recording of any length becomes one vector."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x.mean(dim=-1), x.std(dim=-1)], dim=-1)


class Embedding(nn.Module):
    """The last layer: from statistics to the vector that stands for a speaker."""

    def __init__(self, channels: int):
        super().__init__()
        self.linear = nn.Conv1d(channels, EMBEDDING, 1, bias=False)
        self.nonlinear = normalised(EMBEDDING, affine=False, relu=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.nonlinear(self.linear(x[..., None])[..., 0])


class CamPlusPlusNetwork(nn.Module):
    """Log mel bands [batch, 80, frames], each band's mean removed -> embeddings [batch, 192]."""

    def __init__(self) -> None:
        super().__init__()
        self.head = FrontEnd()
        self.xvector = nn.Sequential()
        self.xvector.add_module("tdnn", NormalisedConvolution())
        channels = WIDTH
        for number, (layers, dilation) in enumerate(BLOCKS, 1):
            self.xvector.add_module(f"block{number}", DenseBlock(layers, channels, dilation))
            channels += GROWTH * layers
            self.xvector.add_module(f"transit{number}", Transit(channels))
            channels //= 2
        self.xvector.add_module("out_nonlinear", normalised(channels))
        self.xvector.add_module("stats", Statistics())
        self.xvector.add_module("dense", Embedding(2 * channels))

    def forward(self, bands: Tensor) -> Tensor:
        return self.xvector(self.head(bands))
