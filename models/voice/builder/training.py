"""Train the phone network with torch: random stretches of speech, one embedding per speaker learnt along with it.

The spectrum network is trained on every setting of the prosody dial: what it is told is mixed, by a share drawn anew for
each stretch, from the true prosody and from what the prosody network believes, so that no setting is strange to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from sottovoce.models.settings import require
from sottovoce.models.voice.builder.examples import Example, cepstra_unit
from sottovoce.models.voice.phone_network import DILATIONS, PROSODY_INPUTS, PROSODY_OUTPUTS
from sottovoce.models.voice.phone_track import FRAME_INPUTS, SEGMENT_INPUTS, SILENCE, frame_inputs, segment_inputs
from sottovoce.models.voice.pool import VOICE_DIMENSION

SPECTRUM_OUTPUTS = 18
TAPS = 5
VOICE_SPREAD = 0.3
SLOPE_WEIGHT = 0.5  # of the error in how the spectrum moves: without it, plosives blur
EXTREMES = 0.25  # share of stretches with the source's prosody alone, and as many with the network's alone


@dataclass(frozen=True)
class Training:
    steps: int = 2000
    batch: int = 16
    crop: int = 128  # frames
    rate: float = 4e-3
    width: int = 128
    prosody_width: int = 64
    duration_width: int = 48
    seed: int = 0

    def __post_init__(self) -> None:
        require((self.steps >= 1, "steps: must be at least 1"), (self.crop >= 32, "crop: must be at least 32"))


class Stack(nn.Module):
    """The torch twin of phone_network.Stack."""

    def __init__(self, inputs: int, width: int, outputs: int):
        super().__init__()
        widths = {"enter": (inputs, width), "leave": (width, outputs)}
        self.layers: Any = nn.ModuleDict({name: nn.Conv1d(*shape, 1) for name, shape in widths.items()})
        for number, dilation in enumerate(DILATIONS):
            padding = dilation * (TAPS // 2)
            self.layers[f"layer{number}"] = nn.Conv1d(width, width, TAPS, padding=padding, dilation=dilation)
        self.voices: Any = nn.ModuleDict(
            {name: nn.Linear(VOICE_DIMENSION, widths.get(name, (0, width))[1], bias=False) for name in self.layers}
        )

    def forward(self, x: torch.Tensor, voice: torch.Tensor) -> torch.Tensor:
        """[batch, inputs, rows] and [batch, voice] -> [batch, outputs, rows]."""

        def layer(name: str, x: torch.Tensor) -> torch.Tensor:
            return self.layers[name](x) + self.voices[name](voice)[:, :, None]

        hidden = torch.relu(layer("enter", x))
        for number in range(len(DILATIONS)):
            hidden = hidden + torch.relu(layer(f"layer{number}", hidden))
        return layer("leave", hidden)

    def arrays(self, prefix: str) -> dict[str, np.ndarray]:
        out = {}
        for name, layer in self.layers.items():
            out[f"{prefix}.{name}.weight"] = layer.weight.detach().numpy().transpose(2, 1, 0)
            out[f"{prefix}.{name}.bias"] = layer.bias.detach().numpy()
            out[f"{prefix}.{name}.voice"] = self.voices[name].weight.detach().numpy().T
        return out

    def start_from(self, weights: dict[str, np.ndarray]) -> None:
        """Take over the weights of phone_network.Stack."""
        with torch.no_grad():
            for name, layer in self.layers.items():
                layer.weight.copy_(torch.from_numpy(weights[f"{name}.weight"].transpose(2, 1, 0).copy()))
                layer.bias.copy_(torch.from_numpy(weights[f"{name}.bias"]))
                self.voices[name].weight.copy_(torch.from_numpy(weights[f"{name}.voice"].T.copy()))


class Networks(nn.Module):
    def __init__(self, speakers: int, options: Training):
        super().__init__()
        self.voice = nn.Embedding(speakers, VOICE_DIMENSION)
        nn.init.normal_(self.voice.weight, std=VOICE_SPREAD)
        self.duration = Stack(SEGMENT_INPUTS, options.duration_width, 1)
        self.prosody = Stack(FRAME_INPUTS, options.prosody_width, PROSODY_OUTPUTS)
        self.spectrum = Stack(FRAME_INPUTS + PROSODY_INPUTS, options.width, SPECTRUM_OUTPUTS)

    def arrays(self) -> dict[str, np.ndarray]:
        stacks = ("duration", "prosody", "spectrum")
        return {name: array for stack in stacks for name, array in getattr(self, stack).arrays(stack).items()}


class Batches:
    """Random stretches of the examples as tensors."""

    def __init__(self, examples: Sequence[Example], options: Training, unit: np.ndarray):
        self._examples, self._options = examples, options
        self._inputs = [frame_inputs(example.track).astype(np.float16) for example in examples]
        self._spectra = [example.spectrum(unit).astype(np.float32) for example in examples]
        self._draw = np.random.default_rng(options.seed)
        # Long utterances have more to teach, but not without end: their speakers would drown the others.
        lengths = np.minimum([example.track.frames for example in examples], 600)
        self._chances = lengths / lengths.sum()

    def next(self) -> dict[str, torch.Tensor]:
        crop, count = self._options.crop, self._options.batch
        chosen = self._draw.choice(len(self._examples), count, p=self._chances)
        shapes = {"inputs": FRAME_INPUTS, "prosody": PROSODY_OUTPUTS, "spectrum": SPECTRUM_OUTPUTS, "weight": 1}
        batch = {name: np.zeros((count, crop, width), np.float32) for name, width in shapes.items()}
        for row, index in enumerate(chosen):
            example = self._examples[index]
            begin = int(self._draw.integers(0, max(1, example.track.frames - crop)))
            part = slice(begin, min(begin + crop, example.track.frames))
            size = part.stop - part.start
            batch["inputs"][row, :size] = self._inputs[index][part]
            batch["prosody"][row, :size] = example.prosody[part]
            batch["spectrum"][row, :size] = self._spectra[index][part]
            batch["weight"][row, :size, 0] = example.weight[part]
        tensors = {name: torch.from_numpy(array.transpose(0, 2, 1).copy()) for name, array in batch.items()}
        tensors["speaker"] = torch.tensor([self._examples[index].speaker for index in chosen])
        share = self._draw.uniform(-EXTREMES * 2, 1 + EXTREMES * 2, (count, 1, 1)).clip(0, 1).astype(np.float32)
        return tensors | {"share": torch.from_numpy(share)} | self._phones(chosen)

    def _phones(self, chosen: np.ndarray) -> dict[str, torch.Tensor]:
        tracks = [self._examples[index].track for index in chosen]
        longest = max(len(track.phone) for track in tracks)
        phones = np.zeros((len(chosen), SEGMENT_INPUTS, longest), np.float32)
        lengths, weights = np.zeros((2, len(chosen), 1, longest), np.float32)
        for row, (index, track) in enumerate(zip(chosen, tracks, strict=True)):
            size = len(track.phone)
            phones[row, :, :size] = segment_inputs(track).T
            lengths[row, 0, :size] = np.log(track.length)
            weights[row, 0, :size] = self._examples[index].trusted * np.where(track.phone == SILENCE, 0.3, 1.0)
            weights[row, 0, [0, size - 1]] *= track.phone[[0, -1]] != SILENCE  # where a recording is cut says nothing
        named = {"phones": phones, "log_length": lengths, "phone_weight": weights}
        return {name: torch.from_numpy(array) for name, array in named.items()}


def _error(guess: torch.Tensor, truth: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    each = functional.smooth_l1_loss(guess, truth, reduction="none") * weight
    return each.sum() / (weight.expand_as(each).sum() + 1e-6)


def losses(networks: Networks, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    voice = networks.voice(batch["speaker"])
    weight, truth = batch["weight"], batch["prosody"]
    voiced = torch.cat([torch.ones_like(weight), truth[:, 2:], torch.ones_like(weight)], dim=1)
    believed = networks.prosody(batch["inputs"], voice)
    told = truth + batch["share"] * (believed.detach() - truth)
    said = networks.spectrum(torch.cat([batch["inputs"], _told(told)], dim=1), voice)
    both = weight[:, :, 1:] * weight[:, :, :-1]
    lengths = networks.duration(batch["phones"], voice)
    return {
        "spectrum": _error(said, batch["spectrum"], weight)
        + SLOPE_WEIGHT * _error(said.diff(dim=2), batch["spectrum"].diff(dim=2), both),
        "prosody": _error(believed, truth, weight * voiced),
        "duration": _error(lengths, batch["log_length"], batch["phone_weight"]),
    }


def _told(prosody: torch.Tensor) -> torch.Tensor:
    """The torch twin of prosody.network_inputs."""
    loudness, height, voicing = prosody[:, :1], prosody[:, 1:2], prosody[:, 2:]
    (slope,) = torch.gradient(loudness, dim=2)
    return torch.cat([loudness, slope, height * voicing, voicing], dim=1)


def train(
    examples: Sequence[Example], speakers: int, options: Training, say: Callable[[str], None],
    start: Callable[[Networks], None] | None = None, unit: np.ndarray | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray]:  # fmt: skip
    """The arrays of the network, units included, and the voice of each speaker."""
    torch.manual_seed(options.seed)
    unit = cepstra_unit(examples) if unit is None else unit
    networks, batches = Networks(speakers, options), Batches(examples, options, unit)
    if start is not None:
        start(networks)
    optimiser = torch.optim.Adam(networks.parameters(), options.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, options.steps)
    seen: list[list[float]] = []
    began = time.monotonic()
    for step in range(1, options.steps + 1):
        parts = losses(networks, batches.next())
        optimiser.zero_grad()
        sum(parts.values(), torch.zeros(())).backward()
        nn.utils.clip_grad_norm_(networks.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        seen.append([part.item() for part in parts.values()])
        if step % 250 == 0 or step == options.steps:
            means = ", ".join(
                f"{name} {mean:.4f}" for name, mean in zip(parts, np.mean(seen[-250:], axis=0), strict=True)
            )
            say(f"step {step}: {means} ({time.monotonic() - began:.0f} s)")
    return networks.arrays() | {"cepstra_unit": unit}, networks.voice.weight.detach().numpy()
