"""Two-covariance PLDA: how much more likely two voices are one speaker's than two speakers'.

Brümmer and de Villiers, "The speaker partitioning problem", Odyssey 2010, section 3. A length-normalised embedding is
x = y + e, with y ~ N(mean, B) the speaker and e ~ N(0, W) the recording. B and W are estimated by the method of moments
(analysis of variance), W shrunk towards a multiple of the identity since there are few speakers. Both are made diagonal
at once, W = I and B = diag(between), so that the log likelihood ratio is a sum over dimensions; the leading dimensions
of the same projection are those of Fisher's linear discriminant analysis (LDA).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.settings import require

MIN_BETWEEN = 1e-3  # a direction in which speakers hardly differ still has a proper density


@dataclass(frozen=True, repr=False)
class Plda:
    """`projection` [d, k] maps length-normalised embeddings minus `mean` [d] to where W = I and B = diag(`between` [k])."""

    mean: np.ndarray
    projection: np.ndarray
    between: np.ndarray

    def project(self, embeddings: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Embeddings [..., d] -> [..., k]. `mean` centres on other speech than that of the training."""
        return (unit(embeddings) - (self.mean if mean is None else mean)) @ self.projection

    def llr(
        self, enrolled: np.ndarray, tested: np.ndarray, enrolled_count: int = 1, tested_count: int = 1
    ) -> np.ndarray:
        """Natural log likelihood ratios [n, m] of projected vectors [n, k], [m, k], each the mean of `..._count`."""
        b = self.between
        enrolled_variance, tested_variance = b + 1 / enrolled_count, b + 1 / tested_count
        expected = (b / enrolled_variance) * enrolled
        left = tested_variance - b**2 / enrolled_variance
        same = (tested[None] - expected[:, None]) ** 2 / left + np.log(left)
        other = tested**2 / tested_variance + np.log(tested_variance)
        return 0.5 * (other.sum(axis=-1)[None] - same.sum(axis=-1))


def unit(embeddings: np.ndarray) -> np.ndarray:
    """At length 1: the length of an embedding tells of the recording's quality, not of the speaker."""
    return embeddings / np.maximum(np.linalg.norm(embeddings, axis=-1, keepdims=True), 1e-12)


def fit(
    embeddings: np.ndarray, speakers: Sequence[str] | np.ndarray, dimensions: int = 40, shrinkage: float = 0.1
) -> Plda:
    """PLDA of embeddings [n, d] whose speakers are known; at least two speakers with two recordings each are needed."""
    names = np.asarray(speakers)
    groups = [unit(embeddings[names == name]) for name in dict.fromkeys(names.tolist())]
    repeated = [group for group in groups if len(group) > 1]
    require(
        (len(repeated) >= 2, "speakers: PLDA needs at least two speakers with two recordings each"),
        (0 <= shrinkage <= 1, "shrinkage: must lie in [0, 1]"),
        (dimensions >= 1, "dimensions: must be at least 1"),
    )
    means = np.array([group.mean(axis=0) for group in groups])
    size = means.shape[1]
    within = sum(np.einsum("ni,nj->ij", g - g.mean(axis=0), g - g.mean(axis=0)) for g in repeated)
    within = within / sum(len(group) - 1 for group in repeated)
    noise_of_means = within * np.mean([1 / len(group) for group in groups])
    between = np.cov(means.T) - noise_of_means
    within = (1 - shrinkage) * within + (shrinkage * np.trace(within) / size + 1e-10) * np.eye(size)
    whitening = np.linalg.cholesky(np.linalg.inv(within))
    white = whitening.T @ between @ whitening
    values, vectors = np.linalg.eigh((white + white.T) / 2)
    order = np.argsort(-values)[: min(dimensions, size)]
    return Plda(means.mean(axis=0), whitening @ vectors[:, order], np.maximum(values[order], MIN_BETWEEN))
