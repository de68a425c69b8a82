"""Word error rates with intervals over speakers: words of one speaker are not independent, so speakers are drawn again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sottovoce.models.evaluation.metrics.verification import Estimate, interval
from sottovoce.models.evaluation.metrics.word_errors import WordErrors

BySpeaker = Mapping[str, WordErrors]
REPEATS = 2000


def pooled(parts: Sequence[BySpeaker]) -> dict[str, WordErrors]:
    """Several trainings, or several folds, as one."""
    out: dict[str, WordErrors] = {}
    for part in parts:
        for speaker, found in part.items():
            out[speaker] = out.get(speaker, WordErrors(0, 0)) + found
    return out


def rate(errors: BySpeaker, seed: int = 0) -> Estimate:
    """The word error rate over all speakers."""
    table = _table(errors, sorted(errors))
    return interval(float(_rate(table.sum(axis=0))), _rate(_redrawn(table, seed)))


def ratio(errors: BySpeaker, reference: BySpeaker, seed: int = 0) -> Estimate:
    """How many times the errors of the reference, on the speakers of both: each draw takes both sides of a speaker."""
    shared = sorted(set(errors) & set(reference))
    ours, theirs = _table(errors, shared), _table(reference, shared)
    drawn = _rate(_redrawn(ours, seed)) / np.maximum(_rate(_redrawn(theirs, seed)), 1e-12)
    found = _rate(ours.sum(axis=0)) / max(_rate(theirs.sum(axis=0)), 1e-12)
    return interval(float(found), drawn)


def _table(errors: BySpeaker, speakers: Sequence[str]) -> np.ndarray:
    return np.array([[errors[name].errors, errors[name].words] for name in speakers], float)


def _redrawn(table: np.ndarray, seed: int) -> np.ndarray:
    chosen = np.random.default_rng(seed).integers(0, len(table), (REPEATS, len(table)))
    return table[chosen].sum(axis=1)


def _rate(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / sums[..., 1]
