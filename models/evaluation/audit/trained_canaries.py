"""What a private training gives away: canaries that were trained on are told from those that were left out.

A second training, of the same settings on the same rows, is made to be measured and is thrown away. Canaries, invented examples
unlike the others, enter it or not, each by a fair coin. The attacker has the trained model, the weights that it began with, and
the canaries; it guesses those in that became likelier most. From the same guesses follows a lower bound of epsilon
(`attacks/one_run.py`), which stands beside the proved one: where it lies above, a proof or a program is wrong. The exposure of
each canary is told among others of its form that were never trained on; left-out ones are its control.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.attacks.one_run import lower_bound
from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.material import Material, TrainedCanaries
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials
from sottovoce.models.evaluation.metrics.exposure import exposure, null_mean


class CanariesInTraining:
    """Membership in a training: which canaries were trained on is told by the model and its first weights."""

    criterion: ClassVar[Criterion] = "inference"
    says = "has the trained model, its first weights and invented examples; tells which of them it was trained on"
    max_risk: ClassVar[float] = 0.5

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        found = material.training
        if isinstance(found, NotMeasurable | NotApplicable):
            return {"model": found}
        if len(found.scores) < MIN_PEOPLE:
            return {"model": NotMeasurable(f"at least {MIN_PEOPLE} canaries; there are {len(found.scores)}")}
        return {"model": _guessed(found)}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=True)


def _guessed(found: TrainedCanaries) -> Trials:
    count = len(found.scores)
    guessed = np.zeros(count, bool)
    guessed[np.argsort(found.scores, kind="stable")[count // 2 :]] = True
    bound = lower_bound(found.scores, found.included, found.delta)
    more = {"epsilon, measured, at least": bound.epsilon, "epsilon that could have been shown": bound.highest}
    if math.isfinite(found.epsilon):
        more |= {"epsilon, proved": found.epsilon, "delta": found.delta}
    more |= _exposures(found)
    refuted = None
    if bound.epsilon > found.epsilon:
        refuted = f"epsilon is at least {bound.epsilon:.3g}, and {found.epsilon:.3g} is claimed"
    people = [str(number) for number in range(count)]
    return Trials((guessed == found.included).astype(float), np.full(count, 0.5), people, more, refuted)


def _exposures(found: TrainedCanaries) -> dict[str, float]:
    """In bits; the more a canary has gained, the lower its cost."""
    bits = np.array([exposure(-score, -found.never) for score in found.scores])
    sides = {"trained on": bits[found.included], "left out": bits[~found.included]}
    more = {f"mean exposure of those {side}": float(own.mean()) for side, own in sides.items() if len(own)}
    if len(sides["trained on"]):
        more["highest exposure"] = float(sides["trained on"].max())
    size = len(found.never) + 1
    return more | {"exposure of one never seen": null_mean(size), "exposure at most": math.log2(size)}


def _invented(rng: np.random.Generator, told: bool) -> Material:
    """Gains of 400 canaries: half a unit of noise, and one unit more for those that were in, or for none."""
    included = rng.random(400) < 0.5
    scores = rng.normal(0, 0.2, 400) + (included if told else 0)
    return Material((), training=TrainedCanaries(scores, included, rng.normal(0, 0.2, 500), math.inf, 0.0))
