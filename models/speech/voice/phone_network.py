"""The networks that say phones in somebody's voice: how long each lasts, how loud and how high, and what spectrum it has.

Three stacks of residual convolutions, each given an embedding of the voice at every layer:
  duration   phones                           -> logarithm of the frames of each phone
  prosody    phones on the vocoder's clock    -> loudness, pitch and voicing of each frame, in units of the utterance
  spectrum   the same, with prosody           -> 17 Bark cepstra and the vocoder's voicing
They know phones and prosody; no spectrum of a source can reach them. `builder/training.py` trains them with torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.voice.pool import WEIGHTS

NETWORK_FILE = "network.npz"
STACKS = ("duration", "prosody", "spectrum")
DILATIONS = (1, 2, 1, 2)
PROSODY_OUTPUTS = 3  # loudness, pitch, voicing
PROSODY_INPUTS = 4  # these, and the slope of the loudness
VOICING_UNIT = 0.3
QUIETEST = -3.0  # loudness of a pause, in units of the utterance


@dataclass(frozen=True, eq=False)
class Stack:
    """in -> width -> four residual convolutions over time -> out; every layer also sees the voice."""

    weights: dict[str, np.ndarray]

    def __call__(self, x: np.ndarray, voice: np.ndarray) -> np.ndarray:
        """[rows, inputs] and [rows, voice] -> [rows, outputs]."""
        hidden = np.maximum(self._layer("enter", x, voice), 0)
        for number, dilation in enumerate(DILATIONS):
            hidden = hidden + np.maximum(self._layer(f"layer{number}", hidden, voice, dilation), 0)
        return self._layer("leave", hidden, voice)

    def _layer(self, name: str, x: np.ndarray, voice: np.ndarray, dilation: int = 1) -> np.ndarray:
        """A convolution over the rows, and what the voice adds to it."""
        kernel = self.weights[f"{name}.weight"]  # [taps, in, out]
        reach = dilation * (len(kernel) // 2)
        padded = np.pad(x, ((reach, reach), (0, 0)))
        out = voice @ self.weights[f"{name}.voice"] + self.weights[f"{name}.bias"]
        for tap, weight in enumerate(kernel):
            out += padded[tap * dilation : tap * dilation + len(x)] @ weight
        return out


Says = Callable[[np.ndarray, np.ndarray], np.ndarray]  # as a stack does


@dataclass(frozen=True, eq=False)
class PhoneNetwork:
    """The three stacks and the units of their outputs."""

    duration: Says
    prosody: Says
    spectrum: Says
    cepstra_unit: np.ndarray  # [17]
    cepstra_spread: np.ndarray  # [17] inside one utterance
    loudness_unit: float  # of cepstrum 0
    silence: np.ndarray  # [20] features of every silence
    silence_loudness: float = QUIETEST


def save(arrays: dict[str, np.ndarray], folder: Path) -> None:
    """Writes `NETWORK_FILE` into the folder, compressed: half precision, but single for arrays of up to 64 numbers."""
    half: dict[str, Any] = {name: a.astype(np.float16 if a.size > 64 else np.float32) for name, a in arrays.items()}
    np.savez_compressed(folder / NETWORK_FILE, **half)


def load(path: Path | str | None = None) -> PhoneNetwork:
    """The network in a folder that `sottovoce build voice` wrote; without a path, the one that ships."""
    file = Path(path or WEIGHTS) / NETWORK_FILE
    if not file.is_file():
        raise CorpusError(f"{file.parent}: holds no {NETWORK_FILE}; make one with `sottovoce build voice`")
    with np.load(file) as stored:
        return from_arrays({name: array.astype(np.float32) for name, array in stored.items()})


def from_arrays(arrays: dict[str, np.ndarray]) -> PhoneNetwork:
    """The network of arrays as `save` takes them: those of a stack begin with its name and a dot."""

    def stack(kind: str) -> Stack:
        return Stack({name.split(".", 1)[1]: a for name, a in arrays.items() if name.startswith(f"{kind}.")})

    return PhoneNetwork(
        duration=stack("duration"),
        prosody=stack("prosody"),
        spectrum=stack("spectrum"),
        cepstra_unit=arrays["cepstra_unit"],
        cepstra_spread=arrays["cepstra_spread"],
        loudness_unit=float(arrays["loudness_unit"]),
        silence=arrays["silence"],
    )
