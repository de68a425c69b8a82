"""What private training spends: the published figure and the sound one.

eDP-SGD (Dupuy et al. 2022) sums N micro-batch gradients, each clipped to C, and adds noise of multiplier z_t = z_0 d(t).
The privacy of that sum depends on z_eff = noise std of the sum / its L2 sensitivity:

    paper_independent   z / (c sqrt(N) max alpha)   N devices draw apart, so the sum's noise grows with sqrt(N) only
    paper_shared        z / (c max alpha)           all devices add the same draw
    sound               z                           std_k = c C alpha_k z / sqrt(N) per device

c = 2, because one example moves a whole micro-batch gradient across the ball; c = 1 only when each micro-batch holds one
example that is added, removed or zeroed. Accountants: `paper_zcdp` (Yu et al. 2019: rho = sum 1/(2 z^2),
epsilon = rho + 2 sqrt(rho ln 1/delta)), `gdp` (Dong et al. 2022: exact for Gaussians, mu^2 = sum 1/z_eff^2, each example
once per epoch) and `pld` (dp-accounting: Poisson sampling with its amplification).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import require
from sottovoce.models.training.privacy.composition import gdp_epsilon, poisson_epsilon
from sottovoce.models.training.privacy.soundness import Decay, PrivacyTerms, sensitivity_factor

PAPER_CLAIM = "the published formula puts z where z_eff stands: this figure is a claim, not a bound"


@dataclass(frozen=True)
class EpsilonReport:
    """`rho` for paper_zcdp, `mu` for gdp, neither for pld. `sound` is False where the figure is a claim, not a bound."""

    epsilon: float
    sound: bool
    z_eff: tuple[float, ...]
    assumptions: tuple[str, ...]
    rho: float | None = None
    mu: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Without the figures that are None; an infinite one is "inf", which JSON has no number for."""
        row = {key: value for key, value in asdict(self).items() if value is not None}
        return {key: "inf" if value == math.inf else value for key, value in row.items()}


def decayed(z0: float, decay: Decay, tau: float, epoch: int) -> float:
    """z_t = z_0 d(t), with d(0) = 1. It depends on the epoch alone, never on data."""
    if decay == "linear":
        return z0 / (1 + tau * epoch)
    if decay == "exp":
        return z0 * math.exp(-tau * epoch)
    return z0


def edp_epsilon(terms: PrivacyTerms, z0: float, steps: int | None = None) -> EpsilonReport:
    """Epsilon at the delta of the terms after their epochs (or after the first `steps`, for a run that was cut short)."""
    require((math.isfinite(z0) and z0 > 0, f"z0: {z0} is not above 0"))
    per_epoch, released = terms.steps_per_epoch, terms.releases_of_alpha
    taken = per_epoch * terms.epochs if steps is None else min(steps, per_epoch * terms.epochs)
    shrink = 1.0
    if terms.noise != "sound":
        shrink = sensitivity_factor(terms.microbatch_size, terms.adjacency) * terms.alpha_max
        shrink *= math.sqrt(terms.n_micro) if terms.noise == "paper_independent" else 1.0
    of_epochs = [decayed(z0, terms.decay, terms.tau, epoch) for epoch in range(-(-taken // per_epoch))]
    z_eff = tuple(z / shrink for z in of_epochs)
    assumptions = terms.assumptions()
    if terms.accountant == "paper_zcdp":
        rho = sum(1 / (2 * z * z) for z in [*of_epochs, *released])
        holds = shrink <= 1 and terms.alpha_source != "private_batch"
        epsilon = rho + 2 * math.sqrt(rho * math.log(1 / terms.delta))
        return EpsilonReport(epsilon, holds, z_eff, assumptions + (() if holds else (PAPER_CLAIM,)), rho=rho)
    if terms.accountant == "gdp":
        mu = math.sqrt(sum(1 / (z * z) for z in [*z_eff, *released]))
        return EpsilonReport(gdp_epsilon(mu, terms.delta), True, z_eff, assumptions, mu=mu)
    events = [(z, min(per_epoch, taken - epoch * per_epoch)) for epoch, z in enumerate(z_eff)]
    epsilon = poisson_epsilon([*events, *((z, 1) for z in released)], terms.batch_size / terms.n, terms.delta)
    return EpsilonReport(epsilon, True, z_eff, assumptions)


def find_z0(terms: PrivacyTerms, target_epsilon: float) -> float:
    """The smallest z_0, within half a percent and on the safe side, that keeps the terms within `target_epsilon`."""
    from scipy.optimize import brentq

    require((target_epsilon > 0, f"target_epsilon: {target_epsilon} is not above 0"))

    def excess(log_z0: float) -> float:
        epsilon = edp_epsilon(terms, math.exp(log_z0)).epsilon
        return math.log(max(epsilon, 1e-12) / target_epsilon)

    low, high = math.log(0.5), math.log(1.0)
    while excess(high) > 0:
        low, high = high, high + 1
        if high > math.log(1e6):
            raise SettingsError([f"target_epsilon: no noise up to z0 = 1e6 reaches {target_epsilon}"])
    while excess(low) <= 0:
        low, high = low - 1, low
    found = float(brentq(excess, low, high, xtol=1e-3)) + 1e-3
    while excess(found) > 0:
        found += 1e-3
    return math.exp(found)
