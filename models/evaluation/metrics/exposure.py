"""Exposure: how much likelier a model finds a secret that it was trained on than others of the same form.

Carlini et al., "The Secret Sharer", USENIX Security 2019: rank(s) = 1 + #{r != s : Px(r) <= Px(s)} among the secrets R that
could have been, exposure = log2 |R| - log2 rank, from 0 to log2 |R|. A secret that was never seen has log2 e = 1.44 bits on
average (`null_mean` is exact), so a figure means something beside that of secrets that were not inserted. Ties count
against the secret, as the "<=" says; `mid` and `min` are there for comparison.

d-exposure (COMPRISE D2.3, section 4.3.4): of a word in a classifier, the mean over classes of log2 n_i - log2 rank_i, where
rank_i = 1 + #{w in C_i, w != s : conf(w) >= conf(s)} and n_i counts s as well, which makes the largest value log2 n_i.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sottovoce.models.evaluation.metrics.estimate import share
from sottovoce.models.settings import require

Ties = Literal["max", "mid", "min"]
Scores = Sequence[float] | np.ndarray


def exposure(secret: float, others: Scores, ties: Ties = "max") -> float:
    """In bits. `secret` and `others` are costs (negative log probability, log perplexity): lower is likelier."""
    costs = np.asarray(others, float)
    require(
        (bool(np.isfinite(costs).all() and math.isfinite(secret)), "scores: must be finite"),
        (ties in ("max", "mid", "min"), f"ties: {ties} is not known; allowed: max, mid, min"),
    )
    below, tied = int((costs < secret).sum()), int((costs == secret).sum())
    rank = 1 + below + {"max": tied, "mid": tied / 2, "min": 0}[ties]
    return math.log2(len(costs) + 1) - math.log2(rank)


@dataclass(frozen=True)
class Sampled:
    """`bits` from a sample of the others, with the interval of Clopper and Pearson; at most log2(m + 1), and `saturated`
    where nothing in the sample was likelier: then the exposure is at least that."""

    bits: float
    low: float
    high: float
    saturated: bool


def sampled_exposure(secret: float, sample: Scores) -> Sampled:
    """-log2 of the share of others that are as likely: (k + 1) / (m + 1) of a sample of m."""
    costs = np.asarray(sample, float)
    require((len(costs) >= 1, "scores: a sample of at least one is needed"))
    size, ahead = len(costs), int(np.count_nonzero(costs <= secret))
    likelier = share(ahead, size)
    most = math.inf if likelier.low == 0 else -math.log2(likelier.low)
    return Sampled(math.log2(size + 1) - math.log2(ahead + 1), -math.log2(likelier.high), most, ahead == 0)


def extrapolated_exposure(secret: float, sample: Scores) -> tuple[float, float]:
    """(-log2 F(secret) of a skew-normal distribution fitted to the sample, p value of the fit by Kolmogorov and Smirnov).

    Beyond the sample it is a guess: a small p value says that the others are not distributed so.
    """
    from scipy.stats import kstest, skewnorm

    costs = np.asarray(sample, float)
    fitted = skewnorm.fit(costs)
    return float(-skewnorm.logcdf(secret, *fitted) / math.log(2)), float(kstest(costs, skewnorm(*fitted).cdf).pvalue)


def d_exposure(secret: float, classes: Sequence[Scores]) -> float:
    """The mean over classes; `secret` and the words of each class are confidences (log probabilities): higher is surer."""
    require((bool(classes), "classes: at least one is needed"))
    return float(np.mean([_in_class(secret, np.asarray(words, float)) for words in classes]))


def _in_class(secret: float, words: np.ndarray) -> float:
    return math.log2(len(words) + 1) - math.log2(1 + np.count_nonzero(words >= secret))


def null_mean(size: int) -> float:
    """The mean exposure among `size` secrets of one that the model has never seen: any rank is as likely as any other."""
    require((size >= 1, "size: must be at least 1"))
    return math.log2(size) - math.lgamma(size + 1) / math.log(2) / size


def secrets_for(bits: float) -> float:
    """How many secrets there must be for a figure to be reached at all: state |R| with every exposure."""
    return 2.0**bits
