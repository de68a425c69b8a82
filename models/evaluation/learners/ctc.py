"""A recogniser from nothing: a small convolutional network over phones, trained by CTC on the examples alone.

Six residual convolutions over 40 mel bands, at a third of their rate (0.6 million weights). Bands are normalised over each
utterance; speech is also heard a tenth slower and faster, and stretches of time and of frequency are blanked out
(Park et al., "SpecAugment", Interspeech 2019). Two trainings of one set lie up to four points apart, hence several seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sottovoce.models.evaluation.learners import SpokenExample
from sottovoce.models.evaluation.learners.word_loop import WordLoop
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.lexicon import ALL_PHONES, Lexicon
from sottovoce.models.speech.mel_bands import BANDS, RATE_HZ, log_bands

LABEL = {phone: number for number, phone in enumerate(ALL_PHONES, 1)}  # 0 is the blank
SPEEDS = ((10, 9), (1, 1), (9, 10))
PRE_EMPHASIS, DITHER = 0.97, 1 / 32768
CROWD = 4  # batches that are drawn at once and sorted by length, so that little of a batch is padding


@dataclass(frozen=True)
class CtcFromScratch:
    """`steps` batches of `batch` utterances."""

    steps: int = 1200
    batch: int = 16
    rate: float = 2e-3
    ready: ClassVar[bool] = False
    drawn: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(
            (self.steps >= 1, "steps: must be at least 1"),
            (self.batch >= 2, "batch: must be at least 2"),
            (self.rate > 0, "rate: must be above 0"),
        )

    def setup(self) -> None:
        import torch  # noqa: F401

    def cost_s(self, training_s: float, test_s: float) -> float:
        return 0.007 * self.steps * self.batch + 0.02 * (training_s + test_s)

    def train(
        self,
        examples: Sequence[SpokenExample],
        lexicon: Lexicon,
        vocabulary: Sequence[str],
        seed: int,
        say: Callable[[int, float], None] | None = None,
    ) -> CtcRecogniser:
        require((bool(examples), "examples: at least one is needed to train from nothing"))
        data = [(_at_speeds(one.speech), [LABEL[phone] for phone in lexicon.usual(one.words)]) for one in examples]
        rows = [
            (word, [LABEL[phone] for phone in phones])
            for word in sorted(set(vocabulary))
            for phones in lexicon.pronunciations[word]
        ]
        return CtcRecogniser(self._trained(data, seed, say), WordLoop(rows))

    def _trained(self, data: list[Any], seed: int, say: Callable[[int, float], None] | None) -> Any:
        import torch
        from torch import nn

        from sottovoce.models.evaluation.learners.ctc_network import CtcNetwork, frames_out

        draw = np.random.default_rng(seed)
        lengths = np.array([len(versions[0]) for versions, _ in data])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = CtcNetwork(1 + len(LABEL)).train()
            optimiser = torch.optim.AdamW(network.parameters(), self.rate, weight_decay=1e-2)
            pace = torch.optim.lr_scheduler.OneCycleLR(optimiser, self.rate, self.steps, pct_start=0.15)
            for step in range(self.steps):
                crowd = draw.choice(len(data), CROWD * self.batch)
                crowd = crowd[np.argsort(lengths[crowd])]
                begin = self.batch * int(draw.integers(CROWD))
                chosen = [data[row] for row in crowd[begin : begin + self.batch]]
                heard = [_blanked(versions[draw.integers(len(versions))], draw) for versions, _ in chosen]
                scores = network(torch.from_numpy(_padded(heard))).transpose(0, 1)
                loss = nn.functional.ctc_loss(
                    scores,
                    torch.tensor([label for _, labels in chosen for label in labels]),
                    torch.tensor([frames_out(len(bands)) for bands in heard]),
                    torch.tensor([len(labels) for _, labels in chosen]),
                    zero_infinity=True,
                )
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 5.0)
                optimiser.step()
                pace.step()
                if say:
                    say(step + 1, float(loss.detach()))
        return network.eval()


@dataclass(frozen=True, repr=False)
class CtcRecogniser:
    """The trained network with the decoder that turns its phones into words of the task."""

    network: Any
    loop: WordLoop

    def hear(self, speech: Speech) -> tuple[str, ...]:
        import torch

        with torch.inference_mode():
            scores = self.network(torch.from_numpy(_bands(resample(speech, RATE_HZ).samples))[None])[0].numpy()
        return self.loop.decode(scores)


def _at_speeds(speech: Speech) -> list[np.ndarray]:
    from scipy.signal import resample_poly

    samples = resample(speech, RATE_HZ).samples
    return [_bands(samples if up == down else resample_poly(samples, up, down)) for up, down in SPEEDS]


def _bands(samples: np.ndarray) -> np.ndarray:
    """Log mel bands [frames, BANDS], mean 0 and deviation 1 over the utterance; dither, for digital silence has no log."""
    dithered = samples + DITHER * np.random.default_rng(0).standard_normal(len(samples))
    bands = log_bands(np.append(dithered[:1], dithered[1:] - PRE_EMPHASIS * dithered[:-1]))
    return ((bands - bands.mean(axis=0)) / (bands.std(axis=0) + 1e-3)).astype(np.float32)


def _blanked(bands: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Two stretches of frequency and two of time set to the mean."""
    out, frames = bands.copy(), len(bands)
    for _ in range(2):
        width = int(draw.integers(0, 9))
        begin = int(draw.integers(0, BANDS - width))
        out[:, begin : begin + width] = 0
        width = int(draw.integers(0, max(1, min(12, frames // 8))))
        begin = int(draw.integers(0, frames - width))
        out[begin : begin + width] = 0
    return out


def _padded(heard: Sequence[np.ndarray]) -> np.ndarray:
    out = np.zeros((len(heard), max(map(len, heard)), BANDS), np.float32)
    for row, bands in enumerate(heard):
        out[row, : len(bands)] = bands
    return out
