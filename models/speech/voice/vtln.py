"""VTLN: the formants of each class of sounds are moved as far as a target speaker's lie from the source's.

Sündermann and Ney, "VTLN-based voice conversion", ISSPIT 2003. Frames fall into classes by the shape of their envelope; the
classes are those of a codebook of many speakers, so no transcript is needed. For each class the bilinear parameter is
found that brings the source's mean envelope nearest to the target's. Pitch and time do not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.voice import NOT_PROTECTED_BY_WARPING, Slices, Voiced
from sottovoce.models.speech.voice.pseudo_speaker import draw_key
from sottovoce.models.speech.voice.warp import ANGLES, RATE_HZ, bilinear, envelopes_of, spectra_of, warped

TARGETS = Path(__file__).with_name("weights") / "vtln_targets.npz"
STEP = 4  # of the 257 points of an envelope, every fourth is compared
TRIED = np.arange(-20, 21) / 100
LEAST = 0.04  # a warp smaller than this leaves the voice as it was
JITTER = 0.02
QUIET = 4.0  # nats below the loudest frames there is no speech to compare
SMOOTH_FRAMES = 6


@dataclass(frozen=True, repr=False)
class Targets:
    """`codebook` [k, p]: mean shapes of the classes; `spectra` [speakers, k, p]: of each target speaker."""

    codebook: np.ndarray
    spectra: np.ndarray

    @classmethod
    def read(cls, path: str | None) -> Targets:
        try:
            with np.load(path or TARGETS) as stored:
                return cls(stored["codebook"].astype(np.float32), stored["spectra"].astype(np.float32))
        except (OSError, KeyError, ValueError):
            raise RunError(
                f"voice: {path or TARGETS.name} holds no VTLN targets; allowed: a file of build_targets"
            ) from None


@dataclass(frozen=True)
class Vtln:
    """`targets` is a file of `build_targets`; the one that ships was made of public recordings."""

    assign: Literal["utterance", "speaker"] = "utterance"
    strength: float = 1.0
    targets: str | None = None
    _loaded: dict[str, Targets] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require((0 < self.strength <= 2, "strength: must lie in (0, 2]"))

    def setup(self) -> None:
        self._loaded["targets"] = Targets.read(self.targets)

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        targets = self._loaded["targets"]
        draw = secret.generator("voice.vtln", *draw_key(utterance, self.assign))
        own = resample(speech, RATE_HZ)
        alphas = self.fit([own], targets.spectra[int(draw.integers(len(targets.spectra)))])
        if np.abs(alphas).mean() < LEAST:  # this target speaks as the source does
            alphas = np.full(len(alphas), draw.choice((-1.0, 1.0)) * draw.uniform(2 * LEAST, 3 * LEAST))
        alphas = alphas + draw.uniform(-JITTER, JITTER)  # or who knows the targets could undo the warp
        _, classes = _classified(own, targets.codebook)
        return Voiced(warped(own, bilinear(ANGLES[None], _smooth(alphas[classes])[:, None])), tuple(words))

    def fit(self, recordings: Sequence[Speech], target: np.ndarray) -> np.ndarray:
        """The parameter [k] of each class that brings the speaker of `recordings` nearest to `target` [k, p]."""
        codebook = self._loaded["targets"].codebook
        own = class_spectra([resample(speech, RATE_HZ) for speech in recordings], codebook)
        points = ANGLES[::STEP]
        best = np.zeros(len(codebook))
        for number, (source, wanted) in enumerate(zip(own, target, strict=True)):
            tried = np.stack([np.interp(bilinear(points, alpha), points, source) for alpha in TRIED])
            best[number] = TRIED[np.argmin(np.square(_shape(tried) - _shape(wanted)).sum(axis=1))]
        return np.clip(self.strength * best, -0.3, 0.3)

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="voice",
            mechanism="vtln",
            says="Formants of each class of sounds are moved towards a public speaker drawn with the run's secret: a casual "
            "listener is misled",
            not_protected=NOT_PROTECTED_BY_WARPING,
            parameters={"assign": self.assign, "strength": self.strength, "targets": self.targets or TARGETS.name},
        )


def class_spectra(recordings: Sequence[Speech], codebook: np.ndarray) -> np.ndarray:
    """Mean envelope [k, p] of each class; a class that does not occur has its codebook shape on the speaker's mean."""
    parts = [_classified(speech, codebook) for speech in recordings]
    envelopes = np.concatenate([part[0] for part in parts])
    classes = np.concatenate([part[1] for part in parts])
    loud = envelopes.mean(axis=1)
    spoken = loud > np.quantile(loud, 0.95) - QUIET
    overall = envelopes[spoken].mean(axis=0)
    found = [envelopes[spoken & (classes == number)] for number in range(len(codebook))]
    return np.stack([own.mean(axis=0) if len(own) else overall + codebook[n] for n, own in enumerate(found)])


def build_targets(recordings: Sequence[Speech], classes: int = 8) -> dict[str, np.ndarray]:
    """Arrays of a file of targets from one recording of each speaker: a codebook by k-means, and each one's spectra."""
    from scipy.cluster.vq import kmeans2

    own = [resample(speech, RATE_HZ) for speech in recordings]
    frames = []
    for speech in own:
        envelopes = envelopes_of(spectra_of(speech.samples))[:, ::STEP]
        loud = envelopes.mean(axis=1)
        spoken = envelopes[loud > np.quantile(loud, 0.95) - QUIET]
        frames.append(_shape(spoken) - _shape(spoken).mean(axis=0))
    codebook, _ = kmeans2(np.concatenate(frames)[::3], classes, minit="++", seed=0)
    spectra = np.stack([class_spectra([speech], codebook) for speech in own])
    return {"codebook": codebook.astype(np.float16), "spectra": spectra.astype(np.float16)}


def _classified(speech: Speech, codebook: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Envelopes [frames, p], and the class of each: the nearest shape once the speaker's mean is taken off."""
    envelopes = envelopes_of(spectra_of(speech.samples))[:, ::STEP]
    loud = envelopes.mean(axis=1)
    mean = _shape(envelopes[loud >= np.quantile(loud, 0.5)]).mean(axis=0)
    distances = np.square((_shape(envelopes) - mean)[:, None] - codebook[None]).sum(axis=-1)
    return envelopes, np.argmin(distances, axis=1)


def _shape(envelopes: np.ndarray) -> np.ndarray:
    return envelopes - envelopes.mean(axis=-1, keepdims=True)


def _smooth(alphas: np.ndarray) -> np.ndarray:
    """Formants glide: a parameter that jumps from frame to frame would be heard as a flutter."""
    from scipy.ndimage import gaussian_filter1d

    return gaussian_filter1d(alphas.astype(np.float64), SMOOTH_FRAMES)
