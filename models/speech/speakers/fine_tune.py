"""An attacker's own encoder: CAM++ trained further on anonymised speech, to find what is left of the speakers in it.

The classifier compares unit vectors with an additive angular margin (Deng et al., "ArcFace", CVPR 2019, equation 3), as
CAM++ itself was trained. Normalisation keeps its statistics: a few hundred recordings are too few to estimate them anew.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.speakers.campplus import CamPlusPlus, log_bands

MARGIN, SCALE = 0.2, 30.0


@dataclass(frozen=True)
class FineTuning:
    """How the attacker trains on: few epochs at a small rate, on crops of `crop_s` seconds."""

    epochs: int = 4
    batch: int = 16
    crop_s: float = 2.0
    rate: float = 1e-4
    seed: int = 0

    def __post_init__(self) -> None:
        require(
            (self.epochs >= 1 and self.batch >= 2, "epochs, batch: must be at least 1 and 2"),
            (self.crop_s > 0 and self.rate > 0, "crop_s, rate: must be above 0"),
        )


def fine_tuned(
    encoder: CamPlusPlus, recordings: Sequence[Speech], speakers: Sequence[str], how: FineTuning = FineTuning()
) -> CamPlusPlus:
    """A copy of `encoder` (which must be set up), trained to tell these speakers apart."""
    import torch
    from torch.nn import functional

    names = sorted(set(speakers))
    require((len(names) >= 2, "speakers: at least two are needed"))
    labels = torch.tensor([names.index(name) for name in speakers])
    bands = [log_bands(speech) for speech in recordings]
    tuned, rng = copy.deepcopy(encoder), np.random.default_rng(how.seed)
    network = tuned._network.eval()  # normalisation as it was; gradients flow all the same
    centres = torch.stack([_mean_embedding(network, bands, labels == index) for index in range(len(names))])
    classifier = torch.nn.Parameter(functional.normalize(centres, dim=1))
    optimiser = torch.optim.Adam(
        [{"params": network.parameters(), "lr": how.rate}, {"params": [classifier], "lr": 1e-3}]
    )
    for _ in range(how.epochs):
        for rows in _batches(rng.permutation(len(bands)), how.batch):
            crops = torch.from_numpy(np.stack([_crop(bands[row], int(100 * how.crop_s), rng) for row in rows]))
            embedded = functional.normalize(network(crops), dim=1)
            cosines = (embedded @ functional.normalize(classifier, dim=1).T).clamp(-0.999, 0.999)
            own = functional.one_hot(labels[rows], len(names)).bool()
            with_margin = torch.where(own, torch.cos(torch.acos(cosines) + MARGIN), cosines)
            loss = functional.cross_entropy(SCALE * with_margin, labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return tuned


def _mean_embedding(network: Any, bands: Sequence[np.ndarray], chosen: Any) -> Any:
    """Where a speaker stands before training: the classifier begins there and learns in few steps."""
    import torch

    with torch.no_grad():
        return torch.stack(
            [network(torch.from_numpy(bands[row])[None])[0] for row in np.flatnonzero(chosen).tolist()]
        ).mean(dim=0)


def _batches(order: np.ndarray, size: int) -> list[np.ndarray]:
    return [order[at : at + size] for at in range(0, len(order) - 1, size)]


def _crop(bands: np.ndarray, frames: int, rng: np.random.Generator) -> np.ndarray:
    """A random stretch of the wanted length; shorter speech is repeated."""
    repeated = np.tile(bands, (1, -(-frames // bands.shape[1])))
    begin = int(rng.integers(0, repeated.shape[1] - frames + 1))
    return repeated[:, begin : begin + frames]
