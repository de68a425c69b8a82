"""What a training will spend, decided before its first step and held to during it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sottovoce.models.errors import RunError
from sottovoce.models.settings import require
from sottovoce.models.training.privacy.accounting import EpsilonReport, decayed, edp_epsilon, find_z0
from sottovoce.models.training.privacy.soundness import Accountant, PrivacyTerms, sensitivity_factor
from sottovoce.models.training.train_settings import TrainSettings


@dataclass(frozen=True)
class Plan:
    """`c` is the sensitivity in units of the clipping norm; `parts` the micro-batches that a step draws."""

    settings: TrainSettings
    n: int
    delta: float
    z0: float
    c: int
    alpha_max: float = 1.0
    mixing: float = 1.0  # by how much more than clipping allows one unit can move the sum (DPSGD + BN, `norms.py`)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in `n` units; what is left over makes no step."""
        return self.n // self.settings.batch_size

    @property
    def steps(self) -> int:
        return self.steps_per_epoch * self.settings.epochs

    def z(self, step: int) -> float:
        """The noise multiplier of a step, counted from 0; it changes from epoch to epoch only."""
        return decayed(self.z0, self.settings.decay, self.settings.tau, step // self.steps_per_epoch)

    def check_step(self, step: int) -> None:
        """The budget, enforced: no step beyond the plan is ever taken."""
        if step >= self.steps:
            raise RunError(f"step {step + 1} would go beyond the {self.steps} steps that the privacy budget covers")

    def claimed(self, steps: int | None = None) -> EpsilonReport | None:
        """The figure of the published formula; None where it says nothing."""
        if self.mixing > 1:  # D2.3: as if clipping a gradient bounded what its example can do to the others
            return edp_epsilon(_terms(self.settings, self.n, self.delta), self.z0, steps)
        if self.settings.mode != "paper":
            return None
        terms = _terms(self.settings, self.n, self.delta, self.alpha_max, "paper_zcdp")
        return edp_epsilon(terms, self.z0, steps)

    def sound(self, steps: int | None = None) -> EpsilonReport | None:
        """The figure that holds after `steps` (all of them by default); None where there is none."""
        if self.settings.mode == "plain" or self.settings.alpha == "private_batch":
            return None
        terms = _terms(self.settings, self.n, self.delta, self.alpha_max)
        return edp_epsilon(terms, self.z0 / self.mixing, steps)


def of_a_group(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """(epsilon, delta) for `size` units together (Dwork and Roth 2014, theorem 2.2): k e, at delta k e^((k-1) e)."""
    if size <= 1:
        return epsilon, delta
    exponent = (size - 1) * epsilon
    return size * epsilon, min(1.0, size * math.exp(min(exponent, 700.0)) * delta)


def check_enough(settings: TrainSettings, n: int, processes: int, there: str = "there are") -> None:
    """Whether `n` units are enough for the settings: asked before anybody is charged, and of the job itself."""
    units = "speakers" if settings.protects == "speaker" else "examples"
    counts = settings.member.make().counts
    shared_out = 1 if counts or settings.mode in ("plain", "per_example") else settings.n_micro
    batch_size = 1 if counts else settings.batch_size
    delta = delta_for(settings, n)
    require(
        (n >= 1, f"data: no {units} to train on"),
        (n >= processes, f"data: {n} {units} for {processes} processes; each needs at least one"),
        (n >= shared_out, f"n_micro: {n} {units} are fewer than {shared_out} micro-batches"),
        (not counts or processes == 1, f"model: counts are made in one process; here are {processes}"),
        (not counts or settings.mode != "plain", "mode: counts without noise publish rare n-grams; use per_example"),
        (batch_size <= max(n, 1), f"batch_size: {batch_size} is more than the {n} {units} {there}"
         + ("; unit: example protects single examples instead" if units == "speakers" else "")),
        (shared_out == 1 or shared_out % processes == 0, f"n_micro: {shared_out} micro-batches cannot be shared out "
         f"evenly over {processes} processes"),
        (settings.mode == "plain" or 0 < delta < 1 / max(n, 1), f"delta: {delta:g} is not below 1/n = {1 / max(n, 1):.3g} "
         f"with {n} {units}; from 1/n on, publishing one outright would count as private"),
    )  # fmt: skip


def delta_for(settings: TrainSettings, n: int) -> float:
    """The delta that is set, else a tenth of 1/n; 0 where neither is known."""
    return 0.1 / n if settings.delta is None and n else settings.delta or 0.0


def make_plan(settings: TrainSettings, n: int, processes: int) -> Plan:
    """Check the settings against the data, and find the noise where only its epsilon is given."""
    check_enough(settings, n, processes)
    delta = delta_for(settings, n)
    if settings.mode == "plain":
        return Plan(settings, n, delta, 0.0, 0)
    c = sensitivity_factor(_microbatch_size(settings), settings.neighbours)
    z0 = settings.z0
    if z0 is None:
        z0 = find_z0(_terms(settings, n, delta), settings.target_epsilon or 0.0)
    elif settings.target_epsilon is not None:
        epsilon = edp_epsilon(_terms(settings, n, delta), z0).epsilon
        require(
            (epsilon <= settings.target_epsilon, f"z0: {z0} would spend epsilon {epsilon:.4g}, more than the "
             f"target_epsilon {settings.target_epsilon}; leave z0 out to have it found"),
        )  # fmt: skip
    # noise is c C z and the sum moves by 2 L C: every row of the batch has another gradient when one row changes
    mixing = 2 * settings.batch_size / c if settings.member.make().mixes_rows else 1.0
    return Plan(settings, n, delta, z0, c, mixing=mixing)


def _microbatch_size(settings: TrainSettings) -> int:
    if settings.mode == "per_example":
        return 1
    # by coins two units may fall into one micro-batch, however many micro-batches there are
    return max(2, settings.batch_size // settings.n_micro)


def _terms(
    settings: TrainSettings, n: int, delta: float, alpha_max: float = 1.0, accountant: Accountant | None = None
) -> PrivacyTerms:
    """Of a training by these settings; counted by the accountant that bounds its way of sampling, unless another is named."""
    return PrivacyTerms(
        epochs=settings.epochs,
        n=n,
        batch_size=settings.batch_size,
        n_micro=settings.n_micro,
        microbatch_size=_microbatch_size(settings),
        delta=delta,
        adjacency=settings.neighbours,
        sampling=settings.drawn_by,
        noise="paper_independent" if settings.mode == "paper" else "sound",
        accountant=accountant or ("pld" if settings.drawn_by == "poisson" else "gdp"),
        decay=settings.decay,
        tau=settings.tau,
        alpha_max=alpha_max,
        alpha_source=settings.alpha,
        alpha_z=settings.alpha_z,
        unit=settings.protects,
    )
