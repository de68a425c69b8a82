"""Which units enter a step, and which micro-batch each goes to. Drawn by key: a step that is repeated draws the same.

Poisson: each unit by its own coin, each to a micro-batch by its own die, whatever the others do; that is what the
accounting of subsampling, and the factor 2 of micro-batches, assume. (Cutting a batch of varying size into equal chunks
would let one unit shift all borders.) Shuffle: each epoch a new order, batches and micro-batches of fixed size.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sottovoce.models.randomness import Secret
from sottovoce.models.training.privacy.soundness import Sampling


@dataclass
class Sampler:
    """Draws the units of every step: `poisson` as the accounting assumes, `shuffle` in whole batches without the rest."""

    key: Secret
    sampling: Sampling
    n: int
    batch_size: int
    n_micro: int
    _order: tuple[int, np.ndarray] | None = field(default=None, init=False, repr=False)

    def draw(self, step: int, purpose: str = "step") -> list[np.ndarray]:
        """The units of each micro-batch. `purpose` sets apart draws that are not a step of training."""
        if self.sampling == "poisson":
            return self._poisson(step, purpose)
        per_epoch = self.n // self.batch_size
        epoch, place = divmod(step, per_epoch)
        if self._order is None or self._order[0] != epoch:
            self._order = (epoch, self.key.generator("order of units", epoch).permutation(self.n))
        batch = self._order[1][place * self.batch_size : (place + 1) * self.batch_size]
        return np.array_split(batch, self.n_micro)

    def _poisson(self, step: int, purpose: str) -> list[np.ndarray]:
        draws = self.key.generator("units of a step", purpose, step)
        taken = draws.random(self.n) < self.batch_size / self.n
        micro = draws.integers(self.n_micro, size=self.n)
        return [np.flatnonzero(taken & (micro == number)) for number in range(self.n_micro)]
