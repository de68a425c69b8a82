"""Who was trained on: members are told from others at few false alarms, by LiRA (`attacks/membership.py`).

A model of the same settings is trained on half of the units of the run, and several shadow models on halves of their own, as
whoever has data of the domain could train them; all are thrown away. For each row of the run the attacker compares what the
model says of it with what shadow models say that saw it, and that did not. It names those above the score that one in a hundred
who were left out reaches: attack rate is the share of members that are named, control the share of others. The mean over
everybody hides the few whom a model gives away; this is about them.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.attacks.membership import judge, lira_scores, threshold_at
from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.material import Material, Membership
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials

FALSE_ALARMS = 0.01
MIN_OTHERS = round(2 / FALSE_ALARMS)  # rows: two of them may be named


class MembersOfTraining:
    """Likelihood ratios of models trained with and without a row (Carlini et al. 2022), against the model that is handed on."""

    criterion: ClassVar[Criterion] = "inference"
    says = "has a trained model and rows that may be in it, trains models of its own; tells at 1 false alarm in 100 which are"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        found = material.membership
        if isinstance(found, NotMeasurable | NotApplicable):
            return {"model": found}
        units, others = len(set(found.unit[found.member].tolist())), int(np.count_nonzero(~found.member))
        if units < MIN_PEOPLE or others < MIN_OTHERS:
            needs = f"at least {MIN_PEOPLE} units that are trained on and {MIN_OTHERS} rows that are not"
            return {"model": NotMeasurable(f"{needs}; there are {units} and {others}")}
        return {"model": _named(found)}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=True)


def _named(found: Membership) -> Trials:
    scores = lira_scores(found.target, found.shadows, found.seen)
    members, others = scores[found.member], scores[~found.member]
    threshold = threshold_at(others, FALSE_ALARMS)
    told = judge(members, others)
    more = {"AUC": told.auc.value, "shadow models": float(len(found.shadows)), "left out": float(len(others))}
    for rate, hits in told.hits.items():
        if rate * len(others) >= 1:  # fewer cannot tell such a rate
            more[f"hits at 1 false alarm in {round(1 / rate)}"] = hits.value
    control = np.full(len(members), (others > threshold).mean())
    return Trials((members > threshold).astype(float), control, found.unit[found.member].astype(str).tolist(), more)


def _invented(rng: np.random.Generator, told: bool) -> Material:
    """600 rows, easy and hard ones, by nine models: each is surer by six deviations of what it was trained on, or by none."""
    rows, models = 600, 8
    hardness, halves = rng.normal(0, 3, rows), [rng.permutation(rows) < rows // 2 for _ in range(models // 2)]
    member = rng.permutation(rows) < rows // 2
    seen = np.array([side for half in halves for side in (half, ~half)])
    target, shadows = (hardness + rng.normal(0, 1, who.shape) + (6.0 * who if told else 0) for who in (member, seen))
    return Material((), membership=Membership(target, member, shadows, seen, np.arange(rows)))
