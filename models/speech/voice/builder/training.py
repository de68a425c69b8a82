"""Train the phone network with torch: random stretches of speech, one embedding per speaker learnt along with it.

The spectrum network is trained on every setting of the prosody dial: what it is told is mixed, by a share drawn anew for
each stretch, from the true prosody and from what the prosody network believes, so that no setting is strange to it.

What will speak is a mix of speakers, whom nobody has heard: voices start close together and are blurred by noise while they
are learnt, so that the space between them is spoken for. The weights that are kept are a running mean over the steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel

from sottovoce.models.settings import require
from sottovoce.models.speech.voice.builder.batches import SPECTRUM_OUTPUTS, StretchBatches, set_aside
from sottovoce.models.speech.voice.builder.examples import SpeechExample, cepstra_unit
from sottovoce.models.speech.voice.phone_network import DILATIONS, PROSODY_INPUTS, PROSODY_OUTPUTS
from sottovoce.models.speech.voice.phone_track import FRAME_INPUTS, SEGMENT_INPUTS
from sottovoce.models.speech.voice.pool import VOICE_DIMENSION

TAPS = 5
VOICE_SPREAD = 0.03  # of the voices before anything is learnt
SLOPE_WEIGHT = 0.5  # of the error in how the spectrum moves: without it, plosives blur
REPORT = 250  # steps between two lines of the log


@dataclass(frozen=True)
class VoiceTraining:
    """How the phone network is trained: how long, on what crops, how large it is."""

    steps: int = 2000
    batch: int = 16
    crop: int = 128  # frames
    rate: float = 4e-3
    width: int = 128
    prosody_width: int = 64
    duration_width: int = 48
    voice_noise: float = 0.05
    memory: float = 0.998  # of the running mean of the weights, for each step
    held_out: int = 12  # one in so many utterances of a speaker is measured on, not learnt from; 0: none
    seed: int = 0

    def __post_init__(self) -> None:
        require(
            (self.steps >= 1, "steps: must be at least 1"),
            (self.crop >= 32, "crop: must be at least 32"),
            (self.voice_noise >= 0, "voice_noise: must be at least 0"),
            (0 <= self.memory < 1, "memory: must lie in [0, 1)"),
            (self.held_out == 0 or self.held_out >= 4, "held_out: must be 0 or at least 4"),
        )


class TrainedStack(nn.Module):
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
    """What is trained together: an embedding a speaker, and the networks that read phones and embedding."""

    def __init__(self, speakers: int, options: VoiceTraining):
        super().__init__()
        self.voice = nn.Embedding(speakers, VOICE_DIMENSION)
        nn.init.normal_(self.voice.weight, std=VOICE_SPREAD)
        self.duration = TrainedStack(SEGMENT_INPUTS, options.duration_width, 1)
        self.prosody = TrainedStack(FRAME_INPUTS, options.prosody_width, PROSODY_OUTPUTS)
        self.spectrum = TrainedStack(FRAME_INPUTS + PROSODY_INPUTS, options.width, SPECTRUM_OUTPUTS)

    def arrays(self) -> dict[str, np.ndarray]:
        stacks = ("duration", "prosody", "spectrum")
        return {name: array for stack in stacks for name, array in getattr(self, stack).arrays(stack).items()}


def _error(guess: torch.Tensor, truth: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    each = functional.smooth_l1_loss(guess, truth, reduction="none") * weight
    return each.sum() / (weight.expand_as(each).sum() + 1e-6)


def losses(networks: Networks, batch: dict[str, torch.Tensor], noise: float) -> dict[str, torch.Tensor]:
    """{network: its error}; `noise` is the spread of what is added to voices, so that those in between are learnt."""
    voice = networks.voice(batch["speaker"])
    return _losses_in(networks, batch, voice + noise * torch.randn_like(voice))


def _losses_in(networks: Networks, batch: dict[str, torch.Tensor], voice: torch.Tensor) -> dict[str, torch.Tensor]:
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
    examples: Sequence[SpeechExample], speakers: int, options: VoiceTraining, say: Callable[[str], None],
    start: Callable[[Networks], None] | None = None, unit: np.ndarray | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray]:  # fmt: skip
    """The arrays of the network, units included, and the voice of each speaker."""
    torch.manual_seed(options.seed)
    unit = cepstra_unit(examples) if unit is None else unit
    learnt, aside = set_aside(examples, options.held_out)
    networks, batches = Networks(speakers, options), StretchBatches(learnt, options, unit)
    if start is not None:
        start(networks)
    kept = AveragedModel(networks, avg_fn=partial(_running_mean, memory=options.memory))
    optimiser = torch.optim.Adam(networks.parameters(), options.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, options.steps)
    unknown = StretchBatches(aside, replace(options, batch=len(aside)), unit).next() if aside else None
    seen: list[dict[str, float]] = []
    began = time.monotonic()
    for step in range(1, options.steps + 1):
        parts = losses(networks, batches.next(), options.voice_noise)
        optimiser.zero_grad()
        sum(parts.values(), torch.zeros(())).backward()
        nn.utils.clip_grad_norm_(networks.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        kept.update_parameters(networks)
        seen.append({name: part.item() for name, part in parts.items()})
        if step % REPORT == 0 or step == options.steps:
            means = {name: float(np.mean([row[name] for row in seen[-REPORT:]])) for name in parts}
            held = f"; held out, by the mean voice: {_figures(_held_out(kept.module, unknown))}" if unknown else ""
            say(f"step {step}: {_figures(means)}{held} ({time.monotonic() - began:.0f} s)")
    return kept.module.arrays() | {"cepstra_unit": unit}, kept.module.voice.weight.detach().numpy()


def _running_mean(mean: torch.Tensor, now: torch.Tensor, count: torch.Tensor, memory: float) -> torch.Tensor:
    """Over about 1 / (1 - memory) steps; over fewer while there are few, for the first ones know nothing."""
    return mean + (now - mean) * max(1 - memory, 9 / (10 + int(count)))


def _held_out(networks: Networks, batch: dict[str, torch.Tensor]) -> dict[str, float]:
    """Errors on utterances that nothing was learnt from, all of the prosody the network's own, in the middle of all voices."""
    with torch.no_grad():
        middle = networks.voice.weight.mean(dim=0).expand(len(batch["speaker"]), -1)
        whole = batch | {"share": torch.ones_like(batch["share"])}
        return {name: part.item() for name, part in _losses_in(networks, whole, middle).items()}


def _figures(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())
