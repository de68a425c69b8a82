"""How much Gaussian noise a guarantee takes: the exact condition of Balle and Wang (ICML 2018)."""

from __future__ import annotations

import math


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The smallest sigma with Phi(a) - e^epsilon Phi(b) <= delta, where a, b = s / (2 sigma) -+ epsilon sigma / s."""
    from scipy.optimize import brentq  # here: every run would wait a second for what few need
    from scipy.special import log_ndtr, ndtr

    def excess(log_sigma: float) -> float:
        ratio = math.exp(log_sigma) / sensitivity
        upper = ndtr(0.5 / ratio - epsilon * ratio)
        return upper - math.exp(epsilon + log_ndtr(-0.5 / ratio - epsilon * ratio)) - delta

    return math.exp(brentq(excess, math.log(sensitivity) - 20, math.log(sensitivity) + 40, xtol=1e-14))
