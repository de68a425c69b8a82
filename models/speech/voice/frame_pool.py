"""Frames of a few public speakers, for `frame_knn`: how each of them sounds from one hundredth of a second to the next.

Unlike the pool, this holds speech: 12 s of each speaker as the vocoder's cepstra, in the speaker's own units.
`sottovoce build voice` writes it beside the pool.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.voice.opus_features import CEPSTRA
from sottovoce.models.speech.voice.pool import F0_QUANTILES, WEIGHTS

FILE = "frames.npz"
SHAPE = slice(1, CEPSTRA)  # of the features: the cepstra without loudness
QUIET = 30  # percentile of loudness under which a frame says nothing of how somebody speaks


@dataclass(frozen=True, eq=False)
class FramePool:
    """The frames of `n` public speakers, as arrays that ship with the package."""

    gender: np.ndarray  # [n] "f" or "m"
    frames: np.ndarray  # [n, frames, 17] cepstra 1 to 17, one after the other in time, in units of the speaker
    mean: np.ndarray  # [n, 17]
    spread: np.ndarray  # [n, 17]
    log_f0_quantiles: np.ndarray  # [n, 21]

    def __post_init__(self) -> None:
        shapes = {"frames": self.frames.shape[1:], "mean": (CEPSTRA - 1,), "spread": (CEPSTRA - 1,)}
        shapes |= {"log_f0_quantiles": (len(F0_QUANTILES),)}
        wrong = [name for name, shape in shapes.items() if getattr(self, name).shape != (len(self.gender), *shape)]
        if wrong or self.frames.shape[2] != CEPSTRA - 1:
            raise CorpusError(f"{FILE} is damaged: {', '.join(wrong) or 'frames'} has another shape than its speakers")

    def __len__(self) -> int:
        return len(self.gender)

    def save(self, folder: Path) -> None:
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        half = {name: a.astype(np.float16) if a.dtype.kind == "f" else a for name, a in arrays.items()}
        np.savez_compressed(folder / FILE, **half)


def load(path: Path | str | None = None) -> FramePool:
    """The frames in a folder that `sottovoce build voice` wrote; without a path, those that ship."""
    file = Path(path or WEIGHTS) / FILE
    if not file.is_file():
        raise CorpusError(f"{file.parent}: holds no {FILE}; make one with `sottovoce build voice`")
    with np.load(file) as stored:
        return FramePool(**{name: a.astype(np.float32) if a.dtype.kind == "f" else a for name, a in stored.items()})


def in_own_units(features: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cepstra 1 to 17 [frames, 17] with mean 0 and spread 1 where somebody speaks; that mean and that spread."""
    cepstra, loudness = features[:, SHAPE], features[:, 0]
    spoken = cepstra[loudness >= np.percentile(loudness, QUIET)]
    mean, spread = spoken.mean(axis=0), spoken.std(axis=0) + 1e-3
    return (cepstra - mean) / spread, mean, spread
