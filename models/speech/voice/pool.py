"""The pool: what is kept of the public speakers from whom pseudo-speakers are mixed.

No recording and no frame of anybody's speech is in it, only one row of figures per speaker: an embedding for selection,
an embedding that the phone network speaks with, the distribution of the pitch, and how long each phone lasts.
`sottovoce build voice` makes a pool; one ships with the project.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech import sphinx
from sottovoce.models.speech.speakers.plda import Plda

WEIGHTS = Path(__file__).with_name("weights")
POOL_FILE = "pool.npz"
PHONES = ("SIL", *sphinx.PHONES.split())  # of the CMU dictionary; number 0 is everything that is not speech
F0_QUANTILES = np.linspace(0.02, 0.98, 21)
VOICE_DIMENSION = 24


@dataclass(frozen=True, eq=False)
class Pool:
    """One row per speaker in every array."""

    speaker: np.ndarray  # [n] id in the public corpus
    gender: np.ndarray  # [n] "f" or "m"
    embedding: np.ndarray  # [n, d] of a speaker encoder, for selection; d is 0 where the pool was built without one
    voice: np.ndarray  # [n, VOICE_DIMENSION] what the phone network takes
    log_f0_quantiles: np.ndarray  # [n, 21] natural logarithm of Hz at F0_QUANTILES, voiced frames
    log_duration: np.ndarray  # [n, phones] mean natural logarithm of the 10 ms frames of each of PHONES
    plda: Plda | None = None  # of `embedding`, as `sottovoce.models.speech.speakers.plda.fit` makes it

    def __post_init__(self) -> None:
        shapes = {
            "gender": (), "embedding": (self.embedding.shape[-1],), "voice": (VOICE_DIMENSION,),
            "log_f0_quantiles": (len(F0_QUANTILES),), "log_duration": (len(PHONES),),
        }  # fmt: skip
        wrong = [name for name, shape in shapes.items() if getattr(self, name).shape != (len(self.speaker), *shape)]
        if wrong:
            raise CorpusError(f"the pool is damaged: {', '.join(wrong)} has another shape than its speakers ask for")

    def __len__(self) -> int:
        return len(self.speaker)

    def save(self, folder: Path) -> None:
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "plda"}
        arrays |= {f"plda_{f.name}": getattr(self.plda, f.name) for f in fields(Plda)} if self.plda else {}
        half = {name: a.astype(np.float16) if a.dtype.kind == "f" else a for name, a in arrays.items()}
        np.savez_compressed(folder / POOL_FILE, **half)


def load(path: Path | str | None = None) -> Pool:
    """The pool in a folder that `sottovoce build voice` wrote; without a path, the one that ships."""
    file = Path(path or WEIGHTS) / POOL_FILE
    if not file.is_file():
        raise CorpusError(f"{file.parent}: holds no {POOL_FILE}; make one with `sottovoce build voice`")
    with np.load(file) as stored:
        arrays = {name: a.astype(np.float32) if a.dtype.kind == "f" else a for name, a in stored.items()}
    plda = {f.name: arrays.pop(f"plda_{f.name}", None) for f in fields(Plda)}
    return Pool(**arrays, plda=Plda(**plda) if plda["mean"] is not None else None)
