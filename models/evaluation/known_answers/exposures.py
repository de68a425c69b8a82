"""Exposures whose answers are known, worked out by hand or by a formula: what `sottovoce evaluate exposure` prints first."""

from __future__ import annotations

import numpy as np

from sottovoce.models.evaluation.metrics.exposure import d_exposure, exposure, null_mean, sampled_exposure, secrets_for


def known_exposures() -> dict[str, float]:
    """By case. `2^14.85`: the size that the largest figure of D2.3's table needs, and 12,921 words do not have."""
    others, tied = np.arange(1.0, 10_000.0), np.zeros(7)
    sample = np.random.default_rng(0).normal(size=1000)
    return {
        "best of 10000": exposure(0.0, others),
        "worst of 10000": exposure(10_000.0, others),
        "all tied of 8, ties=max (paper <=)": exposure(0.0, tied),
        "all tied of 8, ties=min (optimistic)": exposure(0.0, tied, "min"),
        "all tied of 8, ties=mid": exposure(0.0, tied, "mid"),
        "2^14.85": secrets_for(14.85),
        # First of four in one class, third of four in the other.
        "d-exposure 2 classes": d_exposure(0.5, [[0.1, 0.2, 0.3], [0.1, 0.8, 0.9]]),
        "sampled m=1000, 6-sigma canary": sampled_exposure(-6.0, sample).bits,
        **{f"null mean exposure n={size}": null_mean(size) for size in (8, 1000, 10_000)},
    }
