"""Affinity Propagation: groups of alike speakers, without saying how many there are.

Frey and Dueck, "Clustering by passing messages between data points", Science 2007, equations 1 and 2. Every point is
first as likely as any other to stand for its group: the preference is the median affinity, as the paper advises.
"""

from __future__ import annotations

import numpy as np

DAMPING = 0.7
MAX_ROUNDS, STABLE_ROUNDS = 400, 30


def affinity_clusters(affinity: np.ndarray) -> np.ndarray:
    """The group [n] of each point, as an index into the points: that of the one that stands for the group."""
    count = len(affinity)
    if count < 3:
        return np.zeros(count, int)
    similar = (affinity + affinity.T) / 2
    np.fill_diagonal(similar, np.median(similar[~np.eye(count, dtype=bool)]))
    # Ties would swing for ever; a fixed, tiny ramp breaks them and is the same on every worker.
    similar = similar + 1e-9 * np.abs(similar).max() * np.linspace(0, 1, count * count).reshape(count, count)
    chosen = _pass_messages(similar)
    if not chosen.any():
        return np.zeros(count, int)
    exemplars = np.flatnonzero(chosen)
    nearest = exemplars[np.argmax(similar[:, exemplars], axis=1)]
    nearest[exemplars] = exemplars
    return nearest


def _pass_messages(similar: np.ndarray) -> np.ndarray:
    """Which points stand for a group."""
    count, rows = len(similar), np.arange(len(similar))
    responsibility, availability = np.zeros_like(similar), np.zeros_like(similar)
    chosen, stable = np.zeros(count, bool), 0
    for _ in range(MAX_ROUNDS):
        rivals = availability + similar
        best = np.argmax(rivals, axis=1)
        first = rivals[rows, best]
        rivals[rows, best] = -np.inf
        threshold = np.repeat(first[:, None], count, axis=1)
        threshold[rows, best] = rivals.max(axis=1)
        responsibility = DAMPING * responsibility + (1 - DAMPING) * (similar - threshold)
        support = np.maximum(responsibility, 0)
        support[rows, rows] = responsibility[rows, rows]
        total = support.sum(axis=0)
        offered = np.minimum(total[None] - support, 0)
        offered[rows, rows] = total - responsibility[rows, rows]
        availability = DAMPING * availability + (1 - DAMPING) * offered
        now = np.diag(responsibility) + np.diag(availability) > 0
        stable = stable + 1 if np.array_equal(now, chosen) and now.any() else 0
        chosen = now
        if stable >= STABLE_ROUNDS:
            break
    return chosen
