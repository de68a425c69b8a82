"""Was this sentence used for training? Attacks on what a model says about it.

shadow  (Shokri et al. 2017, as Dupuy et al. use it): a model of the same kind is trained on data of the attacker; a
        logistic regression learns there to tell members from others by their sorted intent and slot scores.
lira    (Carlini et al. 2022): several shadow models, each trained on a random half; per sentence the log odds of its true
        labels are compared with what models that saw it, and models that did not, gave it. Strong where it matters: at
        few false alarms.

An attack that fails proves nothing; one that succeeds is a lower bound on what leaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.attacks.two_kinds import learn_to_tell
from sottovoce.models.evaluation.metrics.estimate import Estimate, share

FALSE_ALARMS = (0.001, 0.01, 0.1)


@dataclass(frozen=True)
class MembershipAttack:
    """`auc` is 0.5 for a guess. `hits` gives the share of members found at each rate of false alarms; 95 % intervals."""

    auc: Estimate
    hits: Mapping[float, Estimate]
    members: int
    others: int


def shadow_attack(
    shadow_members: np.ndarray, shadow_others: np.ndarray, members: np.ndarray, others: np.ndarray
) -> MembershipAttack:
    """Features [sentences, scores] of both sides: learned on the shadow model's, tried on the target's."""
    told_apart = learn_to_tell(shadow_members, shadow_others)
    return judge(told_apart(members), told_apart(others))


def lira_attack(target: np.ndarray, member: np.ndarray, shadows: np.ndarray, seen: np.ndarray) -> MembershipAttack:
    """`member` tells whether the model under attack was trained on the sentence."""
    scores = lira_scores(target, shadows, seen)
    return judge(scores[member], scores[~member])


def lira_scores(target: np.ndarray, shadows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """`target` [sentences] log odds by the model under attack, `shadows` [models, sentences] by the shadow models, `seen`
    whether these were trained on it. Deviations are pooled over sentences, as is advised where shadow models are few.
    """
    if not (seen.any(0) & ~seen.all(0)).all():
        raise SettingsError(["lira: every sentence must be seen by some shadow models and not by others"])
    inside = np.where(seen, shadows, 0).sum(0) / seen.sum(0)
    outside = np.where(seen, 0, shadows).sum(0) / (~seen).sum(0)
    residual = shadows - np.where(seen, inside, outside)
    freedom = [max(int(part.sum()) - part.shape[1], 1) for part in (seen, ~seen)]
    spreads = [
        np.sqrt((residual[part] ** 2).sum() / free) + 1e-9 for part, free in zip((seen, ~seen), freedom, strict=True)
    ]
    log_densities = (
        -(((target - mean) / spread) ** 2) / 2 - np.log(spread)
        for mean, spread in zip((inside, outside), spreads, strict=True)
    )
    return next(log_densities) - next(log_densities)


def judge(members: np.ndarray, others: np.ndarray) -> MembershipAttack:
    """How well scores tell members from others."""
    if len(members) < 2 or len(others) < 2:
        raise SettingsError([f"an attack needs members and others; there are {len(members)} and {len(others)}"])
    hits = {rate: _hits(members, others, rate) for rate in FALSE_ALARMS}
    return MembershipAttack(_auc(members, others), hits, len(members), len(others))


def _auc(members: np.ndarray, others: np.ndarray) -> Estimate:
    """The area under the curve with DeLong's interval (DeLong et al. 1988)."""
    from scipy import stats  # half a second to load, which every small audit would wait for

    ranks = stats.rankdata(np.concatenate([members, others]))
    m, n = len(members), len(others)
    above_others = (ranks[:m] - stats.rankdata(members)) / n
    below_members = 1 - (ranks[m:] - stats.rankdata(others)) / m
    auc = float(above_others.mean())
    deviation = float(np.sqrt(above_others.var(ddof=1) / m + below_members.var(ddof=1) / n))
    if deviation == 0:  # perfectly apart: the interval of a proportion that was never missed
        slack = 1 - 0.025 ** (1 / min(m, n))
        return Estimate(auc, max(auc - slack, 0.0), min(auc + slack, 1.0))
    reach = 1.96 * deviation
    return Estimate(auc, max(auc - reach, 0.0), min(auc + reach, 1.0))


def _hits(members: np.ndarray, others: np.ndarray, false_alarms: float) -> Estimate:
    """Share of members above that threshold (Clopper and Pearson's interval)."""
    return share(int((members > threshold_at(others, false_alarms)).sum()), len(members))


def threshold_at(others: np.ndarray, false_alarms: float) -> float:
    """The score that at most this share of the others exceeds."""
    return float(np.sort(others)[::-1][int(np.floor(false_alarms * len(others)))])
