"""Give the pitch of one speaker to another, on voiced frames only; what is not voiced has no pitch and stays.

Both maps act on log F0. Gaussian: (x - mean) / deviation of the source times the target's, plus its mean. Percentile: the
q-th quantile of the source becomes the q-th of the target, which also gives the target's skew and range. A pseudo-speaker's
quantiles are the weighted mean of the quantiles of its parts.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

PitchMap = Literal["none", "gaussian", "percentile"]
MIN_VOICED = 20  # frames: with fewer, the source's quantiles say nothing


def quantile_levels(count: int) -> np.ndarray:
    return np.linspace(0.02, 0.98, count)


def map_pitch(log_f0: np.ndarray, voiced: np.ndarray, target_quantiles: np.ndarray, kind: PitchMap) -> np.ndarray:
    """`log_f0` [frames] with its `voiced` frames moved to a target given by its quantiles at `quantile_levels`."""
    if kind == "none" or not voiced.any():
        return log_f0
    out, own = log_f0.copy(), log_f0[voiced]
    middle = float(np.median(target_quantiles))
    if kind == "gaussian" or len(own) < MIN_VOICED:
        spread = max(float(own.std()), 1e-6)
        ratio = float(target_quantiles.std()) / spread if len(own) >= MIN_VOICED else 1.0
        centre = float(target_quantiles.mean()) if len(own) >= MIN_VOICED else middle
        out[voiced] = (own - own.mean()) * ratio + centre
        return out
    levels = quantile_levels(len(target_quantiles))
    source = np.maximum.accumulate(np.quantile(own, levels) + np.arange(len(levels)) * 1e-6)
    out[voiced] = np.interp(own, source, target_quantiles)
    return out
