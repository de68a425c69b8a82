"""Random stretches of heard speech as tensors, and a share of the utterances set aside to measure on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from sottovoce.models.speech.voice.builder.examples import SpeechExample
from sottovoce.models.speech.voice.phone_network import PROSODY_OUTPUTS
from sottovoce.models.speech.voice.phone_track import (
    FRAME_INPUTS,
    SEGMENT_INPUTS,
    SILENCE,
    frame_inputs,
    segment_inputs,
)

if TYPE_CHECKING:
    from sottovoce.models.speech.voice.builder.training import VoiceTraining

SPECTRUM_OUTPUTS = 18
EXTREMES = 0.25  # share of stretches with the source's prosody alone, and as many with the network's alone


def set_aside(examples: Sequence[SpeechExample], every: int) -> tuple[list[SpeechExample], list[SpeechExample]]:
    """Those to learn from, and of each speaker one in `every` utterances to measure on; none where that is 0.

    A speaker of few utterances keeps them all: their voice could not be learnt without them.
    """
    kept: list[SpeechExample] = []
    aside: list[SpeechExample] = []
    counts: Counter[int] = Counter()
    for example in examples:
        number = counts[example.speaker]
        counts[example.speaker] += 1
        (aside if every and number % every == every // 2 else kept).append(example)
    return kept, aside


class StretchBatches:
    """Random stretches of the examples, as many as the options say."""

    def __init__(self, examples: Sequence[SpeechExample], options: VoiceTraining, unit: np.ndarray):
        self._examples, self._options = examples, options
        self._inputs = [frame_inputs(example.track).astype(np.float16) for example in examples]
        self._spectra = [example.spectrum(unit).astype(np.float32) for example in examples]
        self._draw = np.random.default_rng(options.seed)
        # Long utterances have more to teach, but not without end: their speakers would drown the others.
        lengths = np.minimum([example.track.frames for example in examples], 600)
        self._chances = lengths / lengths.sum()

    def next(self) -> dict[str, torch.Tensor]:
        """{name: [stretches, columns, frames]}, with frames of weight 0 after a short one; phones are of whole utterances."""
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
