"""Which combinations of sampling, neighbours, noise and accountant a theorem covers; the others are refused with a reason."""

from __future__ import annotations

import math
from typing import Literal

from sottovoce.models.settings import require

Decay = Literal["none", "linear", "exp"]
Adjacency = Literal["replace_one", "add_remove", "zero_out"]
Sampling = Literal["shuffle", "poisson"]
Noise = Literal["paper_independent", "paper_shared", "sound"]
Accountant = Literal["paper_zcdp", "gdp", "pld"]
AlphaSource = Literal["ones", "parameter_counts", "public", "noisy_release", "private_batch"]


def check_ranges(
    z0: float,
    tau: float,
    epochs: int,
    n: int,
    batch_size: int,
    n_micro: int,
    microbatch_size: int,
    alpha_max: float,
    delta: float,
) -> None:
    require(
        (math.isfinite(z0) and z0 > 0, f"z0: {z0} is not above 0"),
        (math.isfinite(tau) and tau >= 0, f"tau: {tau} is negative or not finite"),
        (epochs >= 1, f"epochs: {epochs} is less than 1"),
        (n >= 1, f"n: {n} examples; at least 1 is needed"),
        (1 <= batch_size <= n, f"batch_size: {batch_size} does not lie between 1 and n = {n}"),
        (n_micro >= 1, f"n_micro: {n_micro} is less than 1"),
        (microbatch_size >= 1, f"microbatch_size: {microbatch_size} is less than 1"),
        (alpha_max > 0, f"alpha_max: {alpha_max} is not above 0"),
        (0 < delta < 1, f"delta: {delta} does not lie between 0 and 1"),
    )


def check_combination(
    adjacency: Adjacency,
    sampling: Sampling,
    noise: Noise,
    accountant: Accountant,
    alpha_source: AlphaSource,
    alpha_z: float | None,
) -> None:
    """Refuse what no theorem covers, and say which one is missing."""
    shuffled = sampling == "shuffle"
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
        (not (alpha_source == "private_batch" and accountant != "paper_zcdp"), "alpha: scaling measured on a private "
         "batch without noise is a release that no epsilon covers; use public, parameter_counts or noisy_release"),
        (not (alpha_source == "private_batch" and noise == "sound"), "alpha: sound noise with scaling from a private "
         "batch is not sound; use public, parameter_counts or noisy_release"),
        (alpha_source != "noisy_release" or bool(alpha_z and alpha_z > 0), "alpha_z: the noisy release of alpha must be "
         "charged; give its noise multiplier"),
    )  # fmt: skip


def assumptions_of(
    adjacency: Adjacency,
    sampling: Sampling,
    noise: Noise,
    microbatch_size: int,
    alpha_source: AlphaSource,
    n: int,
    batch_size: int,
    delta: float,
) -> tuple[str, ...]:
    neighbours = {
        "replace_one": "neighbours differ in the content of one example",
        "add_remove": "neighbours differ by one example more or less",
        "zero_out": "neighbours differ in one example, which counts nothing in one of them",
    }[adjacency]
    drawn = {
        "shuffle": f"each example is used at most once per epoch, in {n // batch_size} batches of exactly {batch_size}",
        "poisson": f"each example enters each step by its own coin of {batch_size / n:.4g}; batches vary in size",
    }[sampling]
    said = [neighbours, drawn, f"the number of examples, {n}, is public"]
    if microbatch_size > 1:
        said.append(
            "examples are assigned to micro-batches independently of each other, or by position in fixed batches"
        )
    if noise == "paper_shared":
        said.append("all devices add one and the same draw")
    if noise == "paper_independent":
        said.append("devices draw independently, as in the published algorithm")
    if alpha_source == "noisy_release":
        said.append("the release of alpha is charged as one more Gaussian")
    if delta * n >= 1:
        said.append(f"delta is not below 1/n = {1 / n:.3g}: publishing one example outright would count as private")
    return tuple(said)
