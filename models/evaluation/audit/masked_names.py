"""Reconstruction of masked words in speech: which of a list of names stood in the gap?

by its length      the longest silence of the released speech: the name of the other canary whose silence is nearest in length,
                   which the attacker is told
by a recogniser    pocketsphinx listens for every name of the list, where the gap is and around it; one of those that it hears

The list is that of the canaries' first names, so the control names any of them. The rank of the true name is told besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sottovoce.models.evaluation.audit.by_canaries import NO_SUCH_SINK, SPEECH, OfCanaries, enough
from sottovoce.models.evaluation.audit.canaries import FIRST
from sottovoce.models.evaluation.audit.material import Evidence, Material
from sottovoce.models.evaluation.audit.trials import Outcome
from sottovoce.models.speech.audio import Speech

FRAME_S = 0.01
SILENT_DB = -45.0  # below the loudest frame


class MaskedNames(OfCanaries):
    """Reconstruction of a name that was masked in speech, tried on canaries, whose names are known."""

    says = "has the release and the list of names; tells which one was masked, by the length of its gap and by what is heard"
    max_risk: ClassVar[float] = 0.25

    def of(self, found: Evidence) -> dict[str, Outcome]:
        rows = found.get("gaps", [])  # [person, name, seconds of the longest silence, names heard, its own among them]
        if SPEECH not in found["planted"]:
            return {SPEECH: NO_SUCH_SINK}
        if not rows:
            return {SPEECH: enough([], [], [])}
        people = [row[0] for row in rows]
        chance = [1 / len(FIRST)] * len(rows)
        by_length, ranks = _by_length(rows)
        heard = [row[4] / max(row[3], 1) for row in rows]
        places = [(row[3] + 1) / 2 if row[4] else (row[3] + 1 + len(FIRST)) / 2 for row in rows]
        return {
            "by the length of the gap": enough(by_length, chance, people, _mean_rank(ranks)),
            "by a recogniser": enough(heard, chance, people, _mean_rank(places)),
        }

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=True)


def longest_silence(speech: Speech) -> float:
    """In seconds."""
    step = int(FRAME_S * speech.rate_hz)
    frames = speech.samples[: len(speech.samples) // step * step].reshape(-1, step).astype(np.float64)
    levels = 10 * np.log10((frames**2).mean(axis=1) + 1e-12)
    longest = run = 0
    for silent in levels < levels.max(initial=-120.0) + SILENT_DB:
        run = run + 1 if silent else 0
        longest = max(longest, run)
    return longest * FRAME_S


def _by_length(rows: Sequence[Sequence[Any]]) -> tuple[list[float], list[float]]:
    """(the share of right ones among the names whose silences are nearest, the rank of the true one) for each canary."""
    names, silences = np.array([row[1] for row in rows], int), np.array([row[2] for row in rows], float)
    hits, ranks = [], []
    for place in range(len(rows)):
        away = np.abs(silences - silences[place]).round(6)
        away[place] = np.inf
        nearest = np.full(len(FIRST), np.inf)  # of each name
        np.minimum.at(nearest, names, away)
        own = nearest[names[place]]
        ahead, level = np.count_nonzero(nearest < own), np.count_nonzero(nearest == own)
        hits.append(1 / level if not ahead else 0.0)
        ranks.append(float(1 + ahead + (level - 1) / 2))
    return hits, ranks


def _mean_rank(ranks: Sequence[float]) -> dict[str, float]:
    return {"mean rank": float(np.mean(ranks)), "names": float(len(FIRST))} if len(ranks) else {}


def _invented(rng: np.random.Generator, told: bool) -> Material:
    """Silences as long as the name's place in the list says, or of any length; the right name alone is heard, or all are."""
    rows: list[list[Any]] = []
    for person in range(120):
        name = int(rng.integers(len(FIRST)))
        silence = 0.3 + 0.05 * name if told else float(rng.uniform(0.3, 1.0))
        rows.append([str(person), name, silence, 1 if told else len(FIRST), True])
    return Material((), canaries={"planted": {SPEECH: 120}, "gaps": rows})
