"""How a corpus says each phone on average, where that is otherwise than the phone network expects.

A network that learnt from public readers speaks as they do, in their rooms. People who spell at a machine are slower, nearer to
another microphone, in other noise. All that is the corpus', not a person's: one mean over all speakers for each phone, with
noise (`builder/corpus_means.py`), is enough to move the network there. A pool with this file speaks as its corpus does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.voice import phone_network
from sottovoce.models.speech.voice.phone_network import PhoneNetwork, Says
from sottovoce.models.speech.voice.phone_track import PLACE
from sottovoce.models.speech.voice.pool import PHONES, WEIGHTS

FILE = "corpus.npz"
BANDS = 18
POINTS = 3  # of a spectrum, from the begin of a phone to its end
SPECTRUM, LOUDNESS, VOICED, LENGTH = slice(0, POINTS * BANDS), POINTS * BANDS, POINTS * BANDS + 1, POINTS * BANDS + 2
COLUMNS = LENGTH + 1  # of what is moved


@dataclass(frozen=True, eq=False)
class MovedStack:
    """A stack whose outputs are moved by phone and, where `move` has several points, by the place in the phone."""

    stack: Says
    move: np.ndarray  # [phones, points, outputs]

    def __call__(self, x: np.ndarray, voice: np.ndarray) -> np.ndarray:
        phones, points, outputs = self.move.shape
        which = x[:, :phones] @ self.move.reshape(phones, points * outputs)
        return self.stack(x, voice) + (which.reshape(-1, points, outputs) * self._shares(x)[:, :, None]).sum(axis=1)

    def _shares(self, x: np.ndarray) -> np.ndarray:
        """[rows, points]: how much of each point a row takes, by its place between two of them."""
        points = self.move.shape[1]
        if points == 1:
            return np.ones((len(x), 1), np.float32)
        place = x[:, PLACE, None] * (points - 1)
        return np.maximum(0, 1 - np.abs(place - np.arange(points))).astype(np.float32)


@dataclass(frozen=True, eq=False)
class CorpusMeans:
    """Departures from the network, in its units; of SIL, from its silence. What they cost a speaker of the corpus."""

    mean: np.ndarray  # [phones, COLUMNS]
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if self.mean.shape != (len(PHONES), COLUMNS):
            raise CorpusError(f"{FILE} is damaged: it has another shape than the phones ask for")

    def save(self, folder: Path) -> None:
        np.savez(folder / FILE, mean=self.mean.astype(np.float32), epsilon=self.epsilon, delta=self.delta)

    def moved(self, network: PhoneNetwork) -> PhoneNetwork:
        """A copy that says each phone as the corpus does: length, loudness, voicing and spectrum are moved, pitch is not."""
        spoken = self.mean.copy()
        spoken[0] = 0
        prosody = np.stack([spoken[:, LOUDNESS], np.zeros(len(spoken)), spoken[:, VOICED]], axis=1)[:, None]
        spectrum = spoken[:, SPECTRUM].reshape(-1, POINTS, BANDS)
        silence = network.silence.copy()
        silence[1:18] += self.mean[0, SPECTRUM].reshape(POINTS, BANDS)[POINTS // 2, :17] * network.cepstra_unit
        return replace(
            network,
            duration=MovedStack(network.duration, spoken[:, None, LENGTH:].astype(np.float32)),
            prosody=MovedStack(network.prosody, prosody.astype(np.float32)),
            spectrum=MovedStack(network.spectrum, spectrum.astype(np.float32)),
            silence=silence,
            silence_loudness=network.silence_loudness + float(self.mean[0, LOUDNESS]),
        )


def load(folder: Path | str | None = None) -> CorpusMeans | None:
    """The means in a folder that `sottovoce build voice --move` wrote, if there are any."""
    file = Path(folder or WEIGHTS) / FILE
    if not file.is_file():
        return None
    with np.load(file) as stored:
        return CorpusMeans(stored["mean"], float(stored["epsilon"]), float(stored["delta"]))


def network_of(folder: Path | str | None = None) -> PhoneNetwork:
    """The network of a pool, moved if it has been."""
    means, network = load(folder), phone_network.load(folder)
    return means.moved(network) if means else network


def told(folder: Path | str | None = None) -> str:
    """What the ledger says of a pool that was moved; nothing of one that was not."""
    means = load(folder)
    if means is None:
        return ""
    paid = f"epsilon {means.epsilon:g}, delta {means.delta:g}" if np.isfinite(means.epsilon) else "no noise at all"
    return (
        f" All of it speaks as its corpus does on average, by phone or class of phones: one release of these means with {paid} "
        "for each speaker of that corpus, when the pool was moved."
    )
