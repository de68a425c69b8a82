"""Which pitch a pseudo-speaker has: the pool's, a bell curve of its mean and spread, or still the source's own.

The height of a voiced frame is a percentile of the utterance, and the vocoder gets the log F0 at that percentile of the
target. So a pitch map is a choice of quantiles: the target's own (percentile), those of a normal distribution with the
target's mean and deviation (Gaussian), or the source's (none).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sottovoce.models.speech.voice.opus_features import PITCH, VOICING, log_f0
from sottovoce.models.speech.voice.pool import F0_QUANTILES

PitchMap = Literal["percentile", "gaussian", "none"]
MIN_VOICED = 20  # frames: with fewer, the source's quantiles say nothing, and the target's are taken


def target_quantiles(kind: PitchMap, target: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Log F0 in Hz at F0_QUANTILES, from the target's quantiles and the source's features [frames, 20]."""
    from scipy.special import ndtri

    if kind == "gaussian":
        # The quantiles stop short of the tails; their deviation is put right by that of a normal curve's quantiles.
        deviation = float(target.std() / ndtri(F0_QUANTILES).std())
        return float(target.mean()) + deviation * ndtri(F0_QUANTILES)
    voiced = features[features[:, VOICING] > 0, PITCH]
    if kind == "percentile" or len(voiced) < MIN_VOICED:
        return target
    return np.quantile(log_f0(voiced), F0_QUANTILES)
