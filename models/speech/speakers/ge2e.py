"""GE2E: a recurrent encoder, weaker than CAM++; a second opinion, and for selecting targets that CAM++ then attacks.

Wan et al., "Generalized end-to-end loss for speaker verification", ICASSP 2018. Three LSTM layers over 40 mel energies;
windows of 1.6 s that overlap by half are embedded one by one and averaged (section 3.2). The weights (Apache-2.0) lie in
the package `resemblyzer`, of which nothing else is used.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.speech.audio import Speech, level, resample
from sottovoce.models.speech.speakers.packaged import weights_in
from sottovoce.models.speech.speakers.plda import unit

RATE_HZ, WINDOW, HOP, BANDS, SIZE = 16_000, 400, 160, 40, 256
PART_FRAMES, PART_STEP = 160, 77
QUIETEST = 10 ** (-30 / 20)  # the level that quiet speech is raised to, as in training


@dataclass
class Ge2e:
    """Resemblyzer's recurrent encoder (GE2E): 256 numbers of unit length for a recording."""

    _lstm: Any = field(default=None, init=False, repr=False)
    _linear: Any = field(default=None, init=False, repr=False)

    def setup(self) -> None:
        import torch

        stored = torch.load(weights_in("resemblyzer", "pretrained.pt", "0.1.4"), map_location="cpu", weights_only=True)
        self._lstm = torch.nn.LSTM(BANDS, SIZE, 3, batch_first=True)
        self._linear = torch.nn.Linear(SIZE, SIZE)
        for name, layer in (("lstm.", self._lstm), ("linear.", self._linear)):
            own = {k.removeprefix(name): v for k, v in stored["model_state"].items() if k.startswith(name)}
            layer.load_state_dict(own)

    def embed(self, speech: Speech) -> np.ndarray:
        import torch

        parts = torch.from_numpy(_parts(_mel_energies(resample(speech, RATE_HZ).samples)))
        with torch.inference_mode():
            _, (hidden, _) = self._lstm(parts)
            embedded = torch.relu(self._linear(hidden[-1])).numpy()
        return unit(unit(embedded).mean(axis=0)).astype(np.float32)


def _mel_energies(samples: np.ndarray) -> np.ndarray:
    """[frames, 40], of at least one part; frames are centred on multiples of the hop."""
    louder = samples * max(1.0, QUIETEST / max(level(samples), 1e-9))
    padded = np.pad(louder, (WINDOW // 2, WINDOW // 2 + max(0, PART_FRAMES * HOP - len(louder))))
    window = np.hanning(WINDOW + 1)[:-1]
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * window
    return np.abs(np.fft.rfft(frames, axis=1)) ** 2 @ _triangles()


@functools.cache
def _triangles() -> np.ndarray:
    """Mel filters [bins, 40] of unit area, on Slaney's scale: what the network learnt on."""
    from librosa.filters import mel  # loads numba: for this encoder, beside torch, and for no worker of a run

    return mel(sr=RATE_HZ, n_fft=WINDOW, n_mels=BANDS, dtype=np.float64).T


def _parts(mel: np.ndarray) -> np.ndarray:
    """Overlapping windows [parts, PART_FRAMES, 40]; the last one ends with the speech."""
    last = len(mel) - PART_FRAMES
    starts = [*range(0, last, PART_STEP), last] if last > 0 else [0]
    return np.stack([mel[start : start + PART_FRAMES] for start in starts]).astype(np.float32)
