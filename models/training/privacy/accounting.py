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
from sottovoce.models.training.privacy.soundness import (
    Accountant,
    Adjacency,
    AlphaSource,
    Decay,
    Noise,
    Sampling,
    assumptions_of,
    check_combination,
    check_ranges,
)

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
        row = {key: value for key, value in asdict(self).items() if value is not None}
        return {key: "inf" if value == math.inf else value for key, value in row.items()}


def decayed(z0: float, decay: Decay, tau: float, epoch: int) -> float:
    """z_t = z_0 d(t), with d(0) = 1. It depends on the epoch alone, never on data."""
    if decay == "linear":
        return z0 / (1 + tau * epoch)
    if decay == "exp":
        return z0 * math.exp(-tau * epoch)
    return z0


def sensitivity_factor(microbatch_size: int, adjacency: Adjacency) -> int:
    """c: how far, in units of C alpha, one example can move the sum of clipped micro-batch gradients."""
    return 1 if microbatch_size == 1 and adjacency != "replace_one" else 2


def edp_epsilon(
    *,
    z0: float,
    decay: Decay,
    tau: float,
    epochs: int,
    n: int,
    batch_size: int,
    n_micro: int,
    microbatch_size: int,
    alpha_max: float = 1.0,
    delta: float,
    adjacency: Adjacency,
    sampling: Sampling,
    noise: Noise,
    accountant: Accountant,
    alpha_source: AlphaSource = "ones",
    alpha_z: float | None = None,
    steps: int | None = None,
) -> EpsilonReport:
    """Epsilon at `delta` after `epochs` (or after the first `steps` of them, for a run that was cut short).

    `alpha_source` "noisy_release" charges one more Gaussian release of multiplier `alpha_z`.
    """
    check_ranges(z0, tau, epochs, n, batch_size, n_micro, microbatch_size, alpha_max, delta)
    check_combination(adjacency, sampling, noise, accountant, alpha_source, alpha_z)
    per_epoch = n // batch_size
    taken = per_epoch * epochs if steps is None else min(steps, per_epoch * epochs)
    shrink = 1.0
    if noise != "sound":
        shrink = sensitivity_factor(microbatch_size, adjacency) * alpha_max
        shrink *= math.sqrt(n_micro) if noise == "paper_independent" else 1.0
    z_eff = tuple(decayed(z0, decay, tau, epoch) / shrink for epoch in range(-(-taken // per_epoch)))
    assumptions = assumptions_of(adjacency, sampling, noise, microbatch_size, alpha_source, n, batch_size, delta)
    released = [alpha_z] if alpha_source == "noisy_release" and alpha_z else []
    if accountant == "paper_zcdp":
        rho = sum(1 / (2 * z * z) for z in [*(z * shrink for z in z_eff), *released])
        holds = shrink <= 1 and alpha_source != "private_batch"
        epsilon = rho + 2 * math.sqrt(rho * math.log(1 / delta))
        return EpsilonReport(epsilon, holds, z_eff, assumptions + (() if holds else (PAPER_CLAIM,)), rho=rho)
    if accountant == "gdp":
        mu = math.sqrt(sum(1 / (z * z) for z in [*z_eff, *released]))
        return EpsilonReport(gdp_epsilon(mu, delta), True, z_eff, assumptions, mu=mu)
    events = [(z, min(per_epoch, taken - epoch * per_epoch)) for epoch, z in enumerate(z_eff)]
    epsilon = poisson_epsilon([*events, *((z, 1) for z in released)], batch_size / n, delta)
    return EpsilonReport(epsilon, True, z_eff, assumptions)


def find_z0(target_epsilon: float, **plan: Any) -> float:
    """The smallest z_0, within half a percent and on the safe side, that keeps the plan within `target_epsilon`."""
    from scipy.optimize import brentq

    require((target_epsilon > 0, f"target_epsilon: {target_epsilon} is not above 0"))

    def excess(log_z0: float) -> float:
        epsilon = edp_epsilon(z0=math.exp(log_z0), **plan).epsilon
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
