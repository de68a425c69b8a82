"""Overwrite stretches of speech with silence, a tone or noise.

Every sample of a stretch and of the guard band around it is replaced, none is mixed with what was there. The fades,
which avoid clicks, lie outside the guard band: no faded copy of the word survives inside it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, level

NEIGHBOURHOOD_S = 0.3
MAX_FILL_LEVEL = 0.2


class StretchOutsideAudio(Refusal):
    code = "stretch_outside_audio"
    allowed = "stretches that begin before they end and lie inside the audio"


@dataclass(frozen=True)
class Silence:
    """Puts silence in place of masked words. `guard_ms` is taken on both sides of a word; `fade_ms` avoids a click."""

    guard_ms: float = 30.0
    fade_ms: float = 5.0

    def __post_init__(self) -> None:
        require(
            (0 <= self.guard_ms <= 1000, "guard_ms: must lie in [0, 1000]"),
            (0 <= self.fade_ms <= 100, "fade_ms: must lie in [0, 100]"),
        )

    def setup(self) -> None:
        """Nothing to load."""

    def mask(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> Speech:
        intervals = self.intervals(speech, stretches)
        samples = speech.samples.copy()
        fade = round(self.fade_ms / 1000 * speech.rate_hz)
        ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(fade) + 0.5) / max(fade, 1))).astype(np.float32)
        for begin, end in intervals:
            head, tail = samples[max(begin - fade, 0) : begin], samples[end : end + fade]
            head *= ramp[::-1][fade - len(head) :]
            tail *= ramp[: len(tail)]
            samples[begin:end] = 0.0
        kept = np.ones(len(samples), bool)
        for begin, end in intervals:
            kept[begin:end] = False
        for begin, end in intervals:
            samples[begin:end] = self._fill(samples, kept, begin, end, speech.rate_hz)
        return Speech(samples, speech.rate_hz)

    def intervals(self, speech: Speech, stretches: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
        """Sample ranges to overwrite: guard band added, clipped to the audio, merged where only fades lie between."""
        total, rate_hz, guard_s = len(speech.samples), speech.rate_hz, self.guard_ms / 1000
        out: list[tuple[int, int]] = []
        for begin_s, end_s in sorted(stretches):
            if not (0 <= begin_s < end_s and end_s * rate_hz < total + 1):
                raise StretchOutsideAudio
            begin = max(0, math.floor((begin_s - guard_s) * rate_hz))
            end = min(total, math.ceil((end_s + guard_s) * rate_hz))
            if out and begin <= out[-1][1] + 2 * self.fade_ms / 1000 * rate_hz:
                out[-1] = (out[-1][0], max(end, out[-1][1]))
            else:
                out.append((begin, end))
        return out

    def _fill(self, samples: np.ndarray, kept: np.ndarray, begin: int, end: int, rate_hz: int) -> np.ndarray:
        return np.zeros(end - begin, np.float32)

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="mask",
            mechanism=type(self).__name__.lower(),
            says="Sensitive words are overwritten in the speech, guard band included, and removed from its text.",
            not_protected=(
                "words that no detector found",
                "how long a removed stretch was, where it lies inside a slice",
                "what the remaining words tell about the removed ones",
            ),
            parameters={name: getattr(self, name) for name in self.__dataclass_fields__},
            assumptions=("the aligner places each sensitive word within the guard band of where it is said",),
        )


@dataclass(frozen=True)
class Tone(Silence):
    """Puts a steady tone there, as loud as what is left around it, so that a listener hears that something is missing."""

    frequency_hz: float = 440.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require((50 <= self.frequency_hz <= 3000, "frequency_hz: must lie in [50, 3000]"))

    def _fill(self, samples: np.ndarray, kept: np.ndarray, begin: int, end: int, rate_hz: int) -> np.ndarray:
        wave = np.sin(2 * np.pi * self.frequency_hz * np.arange(end - begin) / rate_hz)
        return _shaped(wave * math.sqrt(2), _local_level(samples, kept, begin, end, rate_hz), rate_hz)


@dataclass(frozen=True)
class Noise(Silence):
    """White noise at the level of what is left around the stretch."""

    def _fill(self, samples: np.ndarray, kept: np.ndarray, begin: int, end: int, rate_hz: int) -> np.ndarray:
        # Nothing hides under the noise, so its seed needs no secret; what is published anyway repeats it on a retry.
        seed = hashlib.sha256(samples[kept].tobytes() + begin.to_bytes(8, "big")).digest()
        wave = np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(end - begin)
        return _shaped(np.clip(wave, -3, 3), _local_level(samples, kept, begin, end, rate_hz), rate_hz)


def _local_level(samples: np.ndarray, kept: np.ndarray, begin: int, end: int, rate_hz: int) -> float:
    """Level of what stays near the stretch; never of the word itself, whose loudness is nobody's business."""
    reach = round(NEIGHBOURHOOD_S * rate_hz)
    near = slice(max(begin - reach, 0), end + reach)
    around = samples[near][kept[near]]
    return min(level(around if len(around) else samples[kept]), MAX_FILL_LEVEL)


def _shaped(wave: np.ndarray, target: float, rate_hz: int) -> np.ndarray:
    fade = min(round(0.005 * rate_hz), len(wave) // 2)
    ramp = np.linspace(0, 1, fade, endpoint=False)
    wave[:fade] *= ramp
    wave[len(wave) - fade :] *= ramp[::-1]
    return (wave * target).astype(np.float32)
