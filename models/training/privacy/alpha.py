"""alpha_k: how much of the clipping norm each layer gets.

ones                every layer alike: plain clipping
parameter_counts    sqrt(d_k / d), known without data
public              measured on sentences that belong to nobody
noisy_release       measured on a drawn batch: per micro-batch the vector of layer norms, clipped to length 1, summed, with
                    noise of 2 z_a (one unit moves one vector across the ball) and charged as one more Gaussian
private_batch       measured on the first batch as it is, as published: not private, mode paper only

All but `ones` are scaled to sum_k alpha_k^2 = 1, so that max alpha <= 1, with a floor that keeps every layer alive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from sottovoce.models.training.privacy.edp import Workbench
from sottovoce.models.training.privacy.noise import NoiseSource

FLOOR = 1e-3


def measure_alphas(bench: Workbench, public: Sequence[Any] | None = None) -> dict[str, float] | None:
    """alpha_k by the name of the parameter; None where every layer weighs alike. `public` are encoded rows, for
    `alpha: public` only. Whatever is measured takes the network forward and backward."""
    source, sizes = bench.plan.settings.alpha, bench.flat.sizes
    if source == "ones":
        return None
    if source == "parameter_counts":
        total = sum(sizes.values())
        return {name: math.sqrt(size / total) for name, size in sizes.items()}
    if source == "public":
        bench.flat.clear()
        bench.loss(bench.task.collate(list(public or ())).to(bench.processes.device), 0, 0).backward()
        return _scaled(bench, _lengths(bench))
    purpose = "step" if source == "private_batch" else "alpha"
    measured = _over_micro_batches(bench, purpose)
    if source == "noisy_release":
        noise = NoiseSource(bench.key, len(measured), torch.device("cpu"), "noise of alpha")
        draw = torch.cat([normals.clone() for _, normals in noise.draw(0, 0)]).to(measured)
        measured = measured + 2 * (bench.plan.settings.alpha_z or math.inf) * draw
    return _scaled(bench, measured)


def _over_micro_batches(bench: Workbench, purpose: str) -> torch.Tensor:
    """The sum over micro-batches of their vectors of layer norms, each clipped to length 1."""
    total = torch.zeros(len(bench.flat.names), device=bench.processes.device)
    for part, units in enumerate(bench.sampler.draw(0, purpose)):
        batch = bench.batch_of(units)
        if batch is not None and part % bench.processes.count == bench.processes.rank:
            bench.flat.clear()
            bench.loss(batch, 0, part).backward()
            lengths = _lengths(bench)
            total += lengths / lengths.norm().clamp_min(1.0)
    bench.processes.add_in_order(total)
    return total


def _lengths(bench: Workbench) -> torch.Tensor:
    return torch.stack([stretch.norm() for stretch in bench.flat.stretches.values()])


def _scaled(bench: Workbench, lengths: torch.Tensor) -> dict[str, float]:
    floored = lengths.clamp_min(FLOOR * float(lengths.abs().max()))
    return dict(zip(bench.flat.names, (floored / floored.norm()).tolist(), strict=True))
