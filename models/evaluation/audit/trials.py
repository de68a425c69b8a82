"""From guesses to figures: attack rate, control rate and risk, each with its interval.

risk = (attack - control) / (1 - control), as Giomi et al. ("A unified framework for quantifying privacy risk in synthetic
data", PoPETs 2023) define it: the share of what a guesser without the release misses that the attacker gets right. Guesses
about one person are not independent, so intervals are drawn over people. Where people agree, as where nobody was found,
such draws would show no spread; so one person more whom the attacker always finds, and one whom it never does, are drawn
among the others, as Agresti and Coull (1998) add successes and failures to a share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.models.evaluation.metrics.estimate import Estimate, interval

MIN_PEOPLE = 20
REPEATS = 1000


@dataclass(frozen=True, repr=False)
class Trials:
    """One entry for each guess: whether it was right (or the share of equally good guesses that were), the chance that a
    guess without the release would have been, and about whom it was. `more` are further figures, by name; `refuted`, in
    fixed words and figures, is a claim that these guesses have shown to be wrong."""

    hits: np.ndarray
    control: np.ndarray
    people: Sequence[str]
    more: Mapping[str, float] = field(default_factory=dict)
    refuted: str | None = None


@dataclass(frozen=True)
class NotMeasurable:
    """`needs`, in fixed words and counts: what is missing. Never a pass."""

    needs: str


@dataclass(frozen=True)
class NotApplicable:
    """`why`, in fixed words: the run holds nothing that this attack is about."""

    why: str


Outcome = Trials | NotMeasurable | NotApplicable


@dataclass(frozen=True)
class Figures:
    """Share of right guesses by the attack and by a control that has not seen the release, and the risk between them."""

    attack: Estimate
    control: Estimate
    risk: Estimate
    trials: int
    people: int
    more: Mapping[str, float]


def risk_of(attack: float, control: float) -> float:
    """Below 0 where the attacker is worse than the guesser. A control of 1 leaves nothing to gain."""
    return (attack - control) / (1 - control) if control < 1 else 0.0


def figures(trials: Trials, seed: int = 0) -> Figures:
    """The seed only makes the report repeatable."""
    names, owner = np.unique(np.asarray(trials.people), return_inverse=True)
    counts = np.bincount(owner).astype(float)
    hits, control = (np.bincount(owner, weights=values) for values in (trials.hits, trials.control))
    attack, by_chance = float(hits.sum() / counts.sum()), float(control.sum() / counts.sum())
    typical = counts.mean()
    drawn_hits, drawn_control = _drawn(
        np.append(counts, [typical, typical]),
        np.append(hits, [typical, 0.0]),
        np.append(control, [typical * by_chance] * 2),
        seed,
    )
    drawn_risk = (drawn_hits - drawn_control) / np.maximum(1 - drawn_control, 1e-12)
    return Figures(
        interval(attack, drawn_hits),
        interval(by_chance, drawn_control),
        interval(risk_of(attack, by_chance), drawn_risk),
        len(trials.hits),
        len(names),
        trials.more,
    )


def _drawn(counts: np.ndarray, hits: np.ndarray, control: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Attack and control rates of as many people, drawn again."""
    people = len(counts)
    chosen = np.random.default_rng(seed).multinomial(people, np.full(people, 1 / people), REPEATS)
    return chosen @ hits / (chosen @ counts), chosen @ control / (chosen @ counts)
