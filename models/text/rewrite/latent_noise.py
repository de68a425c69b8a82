"""Noise on a clipped latent vector: what ADePT (Krishna et al. 2021) claims for it, and what holds.

The encoder's output is clipped to an L2 ball of radius C, so two utterances lie at most 2 C apart in L2, and at most
2 C sqrt(d) apart in L1 (opposite corners of the largest cube inside the ball). The paper draws Laplace noise of scale
2 C / epsilon, which is the L2 distance: its pure epsilon is epsilon sqrt(d) (Habernal 2021). Sound: scale
2 C sqrt(d) / epsilon, or a clip in L1, or Gaussian noise by the exact condition of Balle and Wang 2018, which does not
depend on d. The usual sigma = 2 C sqrt(2 ln(1.25 / delta)) / epsilon is proved for epsilon < 1 alone.

What the paper's Laplace gives at a delta is bounded from below by the worst direction in L1, along which every
coordinate moves by 2 C / sqrt(d): d Laplace mechanisms of epsilon / sqrt(d) each, composed numerically.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sottovoce.models.ledger.gaussian import gaussian_sigma

LARGEST_GRID, STEPS_PER_COORDINATE = 1e-3, 50


@dataclass(frozen=True)
class LatentNoise:
    """A clip to radius `clip` in `dimension` dimensions, at a wanted (epsilon, delta) for one utterance."""

    clip: float
    dimension: int
    epsilon: float
    delta: float

    @property
    def laplace_scale_paper(self) -> float:
        """Laplace scale that ADePT states, 2 C / epsilon: too small for its epsilon beyond one dimension."""
        return 2 * self.clip / self.epsilon

    @property
    def laplace_scale_sound(self) -> float:
        """Laplace scale at which epsilon holds, 2 C sqrt(d) / epsilon."""
        return self.laplace_scale_paper * math.sqrt(self.dimension)

    @property
    def epsilon_of_paper_laplace(self) -> float:
        """Pure epsilon of the paper's scale: proved, and tight."""
        return self.epsilon * math.sqrt(self.dimension)

    @property
    def gauss_sigma_analytic(self) -> float:
        """Smallest standard deviation that gives (epsilon, delta), by the exact condition; any epsilon, any dimension."""
        return gaussian_sigma(self.epsilon, self.delta, 2 * self.clip)

    @property
    def gauss_sigma_classic(self) -> float:
        """Standard deviation of the usual formula, given even where it is not proved (`classic_valid`)."""
        return 2 * self.clip * math.sqrt(2 * math.log(1.25 / self.delta)) / self.epsilon

    @property
    def classic_valid(self) -> bool:
        """Whether the proof of the usual Gaussian formula covers this epsilon."""
        return self.epsilon < 1

    def paper_laplace_at_delta(self) -> tuple[float, float]:
        """(delta at the claimed epsilon, epsilon at `delta`) of the paper's Laplace along the worst direction in L1."""
        from dp_accounting.pld import (
            privacy_loss_distribution as pld,
        )  # here: planning something else needs no accountant

        shift = self.epsilon / math.sqrt(self.dimension)
        grid = min(LARGEST_GRID, shift / STEPS_PER_COORDINATE)
        one = pld.from_laplace_mechanism(1.0, sensitivity=shift, value_discretization_interval=grid)
        composed = one.self_compose(self.dimension)
        return composed.get_delta_for_epsilon(self.epsilon), composed.get_epsilon_for_delta(self.delta)

    def figures(self) -> dict[str, float | bool]:
        """Everything at once, under the names that `sottovoce budget adept --json` prints."""
        delta_at_claim, epsilon_at_delta = self.paper_laplace_at_delta()
        root = math.sqrt(self.dimension)
        return {
            "C": self.clip,
            "dim": self.dimension,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "laplace_scale_paper": self.laplace_scale_paper,
            "laplace_scale_sound": self.laplace_scale_sound,
            "epsilon_actual_of_paper_laplace": self.epsilon_of_paper_laplace,
            "gauss_sigma_analytic": self.gauss_sigma_analytic,
            "gauss_sigma_classic": self.gauss_sigma_classic,
            "classic_valid": self.classic_valid,
            "delta_of_paper_laplace_at_claimed_epsilon": delta_at_claim,
            "epsilon_of_paper_laplace_at_delta": epsilon_at_delta,
            "laplace_rms_noise_sound": self.laplace_scale_sound * math.sqrt(2) * root,
            "gauss_rms_noise": self.gauss_sigma_analytic * root,
        }
