"""The network of ERes2Net: residual blocks in two scales, whose outputs are fused by attention inside and across layers.

Chen et al., "An enhanced Res2Net with local and global feature fusion for speaker verification", Interspeech 2023. Names of
layers are those of the published weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

CHANNELS, BANDS, EMBEDDING, SCALES = 32, 80, 192, 2
LAYERS = ((32, 3, 1, False), (64, 4, 2, False), (128, 6, 2, True), (256, 3, 2, True))  # channels, blocks, stride, fused
CEILING = 20.0  # of the rectifier, as in training


class Fusion(nn.Module):
    """Two maps of one shape, weighed against each other by what is in both (section 2.1)."""

    def __init__(self, channels: int):
        super().__init__()
        self.local_att = nn.Sequential(
            nn.Conv2d(2 * channels, channels // 4, 1),
            nn.BatchNorm2d(channels // 4),
            nn.SiLU(),
            nn.Conv2d(channels // 4, channels, 1),
            nn.BatchNorm2d(channels),
        )

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        weight = torch.tanh(self.local_att(torch.cat([one, other], 1)))
        return one * (1 + weight) + other * (1 - weight)


class Block(nn.Module):
    """One residual block in two scales; `fused` where the scales are joined by attention and not by a sum."""

    def __init__(self, channels_in: int, channels: int, stride: int, fused: bool):
        super().__init__()
        width = channels // 2
        self.conv1 = nn.Conv2d(channels_in, SCALES * width, 1, stride, bias=False)
        self.bn1 = nn.BatchNorm2d(SCALES * width)
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(SCALES))
        self.bns = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(SCALES))
        self.fuse_models = nn.ModuleList(Fusion(width) for _ in range(SCALES - 1)) if fused else None
        self.conv3 = nn.Conv2d(SCALES * width, 2 * channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(2 * channels)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels_in != 2 * channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, 2 * channels, 1, stride, bias=False), nn.BatchNorm2d(2 * channels)
            )

    def forward(self, x: Tensor) -> Tensor:
        parts = _rectified(self.bn1(self.conv1(x))).chunk(SCALES, 1)
        found: list[Tensor] = []
        for number, part in enumerate(parts):
            if number and self.fuse_models is not None:
                part = self.fuse_models[number - 1](found[-1], part)
            elif number:
                part = found[-1] + part
            found.append(_rectified(self.bns[number](self.convs[number](part))))
        return _rectified(self.bn3(self.conv3(torch.cat(found, 1))) + self.shortcut(x))


class ERes2NetNetwork(nn.Module):
    """Log mel bands [batch, 80, frames], each band's mean removed -> embeddings [batch, 192]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, CHANNELS, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(CHANNELS)
        channels_in = CHANNELS
        for number, (channels, blocks, stride, fused) in enumerate(LAYERS, 1):
            layers = [Block(channels_in, channels, stride, fused)]
            layers += [Block(2 * channels, channels, 1, fused) for _ in range(blocks - 1)]
            self.add_module(f"layer{number}", nn.Sequential(*layers))
            channels_in = 2 * channels
        for number, name in enumerate(("12", "123", "1234"), 1):
            wide = 2 * LAYERS[number][0]
            self.add_module(f"layer{number}_downsample", nn.Conv2d(wide // 2, wide, 3, 2, 1, bias=False))
            self.add_module(f"fuse_mode{name}", Fusion(wide))
        self.seg_1 = nn.Linear(2 * channels_in * BANDS // 8, EMBEDDING)

    def forward(self, bands: Tensor) -> Tensor:
        x = self.get_submodule("layer1")(functional.relu(self.bn1(self.conv1(bands[:, None]))))
        fused = x
        for number, name in enumerate(("12", "123", "1234"), 1):
            x = self.get_submodule(f"layer{number + 1}")(x)
            narrowed = self.get_submodule(f"layer{number}_downsample")(fused)
            fused = self.get_submodule(f"fuse_mode{name}")(x, narrowed)
        flat = fused.flatten(1, 2)
        spread = torch.sqrt(flat.var(dim=-1) + 1e-8)
        return self.seg_1(torch.cat([flat.mean(dim=-1), spread], 1))


def _rectified(x: Tensor) -> Tensor:
    return functional.hardtanh(x, 0.0, CEILING)
