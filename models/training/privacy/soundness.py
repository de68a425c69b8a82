"""Which combinations of sampling, neighbours, noise and accountant a theorem covers; the others are refused with a reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sottovoce.models.settings import require

Decay = Literal["none", "linear", "exp"]
Adjacency = Literal["replace_one", "add_remove", "zero_out"]
Sampling = Literal["shuffle", "poisson"]
Noise = Literal["paper_independent", "paper_shared", "sound"]
Accountant = Literal["paper_zcdp", "gdp", "pld"]
AlphaSource = Literal["ones", "parameter_counts", "public", "noisy_release", "private_batch"]


@dataclass(frozen=True)
class PrivacyTerms:
    """All that an epsilon depends on, beside the noise multiplier z_0 and the steps taken. What no theorem covers cannot be made.

    `alpha_source` "noisy_release" charges one more Gaussian release of multiplier `alpha_z`.
    """

    epochs: int
    n: int
    batch_size: int
    n_micro: int
    microbatch_size: int
    delta: float
    adjacency: Adjacency
    sampling: Sampling
    noise: Noise
    accountant: Accountant
    decay: Decay = "none"
    tau: float = 0.0
    alpha_max: float = 1.0
    alpha_source: AlphaSource = "ones"
    alpha_z: float | None = None
    unit: str = "example"  # whom the figure is for, in words

    def __post_init__(self) -> None:
        _check_ranges(self)
        _check_combination(self)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in `n` units; what is left over makes no step."""
        return self.n // self.batch_size

    @property
    def releases_of_alpha(self) -> tuple[float, ...]:
        """The noise multiplier of each release that is charged beside the steps."""
        return (self.alpha_z,) if self.alpha_source == "noisy_release" and self.alpha_z else ()

    def assumptions(self) -> tuple[str, ...]:
        """What must be true of the training for its figure to hold, in words."""
        return _assumptions_of(self)


def sensitivity_factor(microbatch_size: int, adjacency: Adjacency) -> int:
    """c: how far, in units of C alpha, one example can move the sum of clipped micro-batch gradients."""
    return 1 if microbatch_size == 1 and adjacency != "replace_one" else 2


def _check_ranges(terms: PrivacyTerms) -> None:
    tau, epochs, n, batch_size = terms.tau, terms.epochs, terms.n, terms.batch_size
    require(
        (math.isfinite(tau) and tau >= 0, f"tau: {tau} is negative or not finite"),
        (epochs >= 1, f"epochs: {epochs} is less than 1"),
        (n >= 1, f"n: {n} examples; at least 1 is needed"),
        (1 <= batch_size <= n, f"batch_size: {batch_size} does not lie between 1 and n = {n}"),
        (terms.n_micro >= 1, f"n_micro: {terms.n_micro} is less than 1"),
        (terms.microbatch_size >= 1, f"microbatch_size: {terms.microbatch_size} is less than 1"),
        (terms.alpha_max > 0, f"alpha_max: {terms.alpha_max} is not above 0"),
        (0 < terms.delta < 1, f"delta: {terms.delta} does not lie between 0 and 1"),
    )


def _check_combination(terms: PrivacyTerms) -> None:
    """Refuse what no theorem covers, and say which one is missing."""
    shuffled, adjacency, accountant = terms.sampling == "shuffle", terms.adjacency, terms.accountant
    private_alpha, alpha_z = terms.alpha_source == "private_batch", terms.alpha_z
    require(
        (not (shuffled and accountant == "pld"), "accountant: pld counts the amplification of Poisson sampling, which "
         "shuffling does not have (a shuffled run can spend five times as much); use gdp, or sample by poisson"),
        (not (not shuffled and accountant == "gdp"), "accountant: gdp with poisson sampling is a limit, not a bound; "
         "use pld"),
        (not (not shuffled and accountant == "paper_zcdp"), "accountant: paper_zcdp counts each example once per epoch, "
         "and Poisson sampling may take it more often; use pld"),
        (not (shuffled and adjacency == "add_remove"), "adjacency: add_remove changes the number of examples, which "
         "shuffling into batches of fixed size keeps; use replace_one or zero_out"),
        (not (not shuffled and adjacency == "replace_one"), "adjacency: poisson sampling is accounted for add_remove or "
         "zero_out; two neighbours of replace_one differ in two such steps"),
        (not (private_alpha and accountant != "paper_zcdp"), "alpha: scaling measured on a private "
         "batch without noise is a release that no epsilon covers; use public, parameter_counts or noisy_release"),
        (not (private_alpha and terms.noise == "sound"), "alpha: sound noise with scaling from a private "
         "batch is not sound; use public, parameter_counts or noisy_release"),
        (terms.alpha_source != "noisy_release" or bool(alpha_z and alpha_z > 0), "alpha_z: the noisy release of alpha must be "
         "charged; give its noise multiplier"),
    )  # fmt: skip


def _assumptions_of(terms: PrivacyTerms) -> tuple[str, ...]:
    n, batch_size, unit = terms.n, terms.batch_size, terms.unit
    neighbours = {
        "replace_one": f"neighbours differ in the content of one {unit}",
        "add_remove": f"neighbours differ by one {unit} more or less",
        "zero_out": f"neighbours differ in one {unit}, which counts nothing in one of them",
    }[terms.adjacency]
    drawn = {
        "shuffle": f"each {unit} is used at most once per epoch, in {terms.steps_per_epoch} batches of exactly {batch_size}",
        "poisson": f"each {unit} enters each step by its own coin of {batch_size / n:.4g}; batches vary in size",
    }[terms.sampling]
    said = [neighbours, drawn, f"the number of {unit}s, {n}, is public"]
    if terms.microbatch_size > 1:
        said.append(
            f"{unit}s are assigned to micro-batches independently of each other, or by position in fixed batches"
        )
    if terms.noise == "paper_shared":
        said.append("all devices add one and the same draw")
    if terms.noise == "paper_independent":
        said.append("devices draw independently, as in the published algorithm")
    if terms.alpha_source == "noisy_release":
        said.append("the release of alpha is charged as one more Gaussian")
    if terms.delta * n >= 1:
        said.append(f"delta is not below 1/n = {1 / n:.3g}: publishing one {unit} outright would count as private")
    return tuple(said)
