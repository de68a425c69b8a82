"""The gradient of one step: eDP-SGD as published and made sound, per-example clipping, and none of it.

eDP-SGD (Dupuy et al. 2022, Alg. 1): each device takes the gradient of one micro-batch, scales layer k by 1/alpha_k, clips to
C, scales back, adds noise and divides by N; the devices' results are added. One process may play several devices. What
differs between the modes is the noise of a device (std of coordinate in layer k):

    paper    C z                       whatever alpha is, and as if N independent draws added up to N times one
    sound    c C alpha_k z / sqrt(N)   so that the sum carries c C alpha_k z, c the sensitivity (see `accounting`)

per_example clips each unit's gradient (`ghost`), adds up, and each process adds C c z / sqrt(processes). The sum is divided
by the planned batch size, never by the number of units that were drawn: that number is not public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from sottovoce.models.randomness import Secret
from sottovoce.models.training.batches import AnyBatch
from sottovoce.models.training.loop.processes import Processes
from sottovoce.models.training.privacy.flat import FlatGradients
from sottovoce.models.training.privacy.ghost import clip_per_unit
from sottovoce.models.training.privacy.noise import NoiseSource
from sottovoce.models.training.privacy.plan import Plan
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.tasks.task import Task


@dataclass
class Workbench:
    """What a step needs. `units` lists the rows of each unit; `alphas` is None where all layers weigh alike."""

    network: nn.Module
    task: Task
    rows: Sequence[Any]
    units: Sequence[Sequence[int]]
    plan: Plan
    sampler: Sampler
    key: Secret
    processes: Processes
    flat: FlatGradients
    noise: NoiseSource
    alphas: dict[str, float] | None = None

    def batch_of(self, units: np.ndarray) -> AnyBatch | None:
        """All rows of the units, each weighing the same; None where no unit was drawn."""
        rows = [self.rows[row] for unit in units for row in self.units[unit]]
        return self.task.collate(rows).to(self.processes.device) if rows else None

    def loss(self, batch: AnyBatch, step: int, part: int) -> torch.Tensor:
        """The weighted sum of the losses of a batch, ready for `backward`; `step` and `part` decide what dropout drops."""
        self.seed_dropout(step, part)
        with self.autocast():
            return (self.network(batch) * batch.weights).sum()

    def seed_dropout(self, step: int, part: int) -> None:
        """A repeated step drops the same units, so it repeats exactly. No privacy rests on this draw."""
        seed = int.from_bytes(self.key.digest("dropout", step, part)[:8], "big") >> 1
        if self.processes.device.type == "cuda":
            torch.cuda.manual_seed(seed)
        torch.default_generator.manual_seed(seed)  # torch.manual_seed writes a stack down each time, for a millisecond

    def autocast(self) -> torch.autocast:
        """bfloat16 where `mixed_precision` is set, else a context that changes nothing."""
        mixed = self.plan.settings.mixed_precision
        return torch.autocast(self.processes.device.type, torch.bfloat16, enabled=mixed)


@dataclass
class StepResult:
    """Both come from private rows without noise: they are for the operator's eyes, not for publication."""

    loss: float
    clipped_share: float


def gradient_of_step(bench: Workbench, step: int) -> StepResult:
    """Leaves the gradient of the step in `bench.flat.vector`, the same on every process."""
    taken = {"paper": _micro_batches, "sound": _micro_batches, "per_example": _per_unit, "plain": _plain}
    return taken[bench.plan.settings.mode](bench, step)


def device_noise(plan: Plan, step: int, processes: int) -> float:
    """The standard deviation that one device adds, before alpha_k."""
    settings, z = plan.settings, plan.z(step)
    if settings.mode == "paper":
        return settings.clip * z
    draws = settings.n_micro if settings.mode == "sound" else processes
    return plan.c * settings.clip * z / math.sqrt(draws)


def _micro_batches(bench: Workbench, step: int) -> StepResult:
    settings, processes, flat = bench.plan.settings, bench.processes, bench.flat
    drawn = bench.sampler.draw(step)
    mine = range(processes.rank * len(drawn) // processes.count, (processes.rank + 1) * len(drawn) // processes.count)
    share = 1 / settings.n_micro
    std = device_noise(bench.plan, step, processes.count) * share
    weigh_noise = bench.alphas if settings.mode == "sound" else None
    if settings.micro_at_once:
        return _at_once(bench, step, [drawn[part] for part in mine], mine.start, std, weigh_noise)
    total, losses, clipped = None, [], 0
    for part in mine:
        batch = bench.batch_of(drawn[part])
        if batch is None:
            flat.clear()
        else:
            flat.let_go()
            loss = bench.loss(batch, step, part)
            loss.backward()
            clipped += bool(flat.clip(settings.clip, bench.alphas, share) > settings.clip)
            losses.append(loss.detach())
        flat.add_noise(bench.noise.draw(step, part), std, weigh_noise)  # an empty micro-batch is noised as well
        if len(mine) > 1:
            total = flat.vector.clone() if total is None else total.add_(flat.vector)
    if total is not None:
        flat.vector.copy_(total)
    processes.add_in_order(flat.vector)
    return StepResult(_mean(losses), clipped / len(mine))


def _at_once(
    bench: Workbench, step: int, parts: list[np.ndarray], first: int, std: float, weigh_noise: dict[str, float] | None
) -> StepResult:
    """The same for all micro-batches of this process in one pass: each is a unit of several rows, and as many draws of noise
    are one that is as large as their sum."""
    bench.flat.clear()
    owned = [[row for unit in part for row in bench.units[unit]] for part in parts]
    losses, clipped = _clip_together(bench, step, [rows for rows in owned if rows])
    bench.flat.vector.div_(bench.plan.settings.n_micro)
    bench.flat.add_noise(bench.noise.draw(step, first), std * math.sqrt(len(parts)), weigh_noise)
    bench.processes.add_in_order(bench.flat.vector)
    return StepResult(_mean(losses), clipped / len(parts))


def _per_unit(bench: Workbench, step: int) -> StepResult:
    settings, processes = bench.plan.settings, bench.processes
    units = np.concatenate(bench.sampler.draw(step))[processes.rank :: processes.count]
    bench.flat.clear()
    losses, clipped = _clip_together(bench, step, [bench.units[unit] for unit in units])
    std = device_noise(bench.plan, step, processes.count)
    bench.flat.add_noise(bench.noise.draw(step, processes.rank), std, bench.alphas)
    processes.add_in_order(bench.flat.vector)
    bench.flat.vector.div_(settings.batch_size)
    return StepResult(_mean(losses), clipped / max(len(units), 1))


def _plain(bench: Workbench, step: int) -> StepResult:
    processes = bench.processes
    units = np.concatenate(bench.sampler.draw(step))[processes.rank :: processes.count]
    batch = bench.batch_of(units)
    losses = []
    bench.flat.clear()
    if batch is not None:
        loss = bench.loss(batch, step, processes.rank)
        loss.backward()
        losses.append(loss.detach())
    processes.add_in_order(bench.flat.vector)
    bench.flat.vector.div_(processes.count)
    return StepResult(_mean(losses), 0.0)


def _clip_together(bench: Workbench, step: int, owned: Sequence[Sequence[int]]) -> tuple[list[torch.Tensor], int]:
    """Add to the vector the gradient of each unit, clipped; `owned` are the rows of each. Their losses, and how many were cut."""
    settings, processes = bench.plan.settings, bench.processes
    losses, clipped = [], 0
    for number, chunk in enumerate(_chunks(owned, settings.rows_at_once)):
        bench.seed_dropout(step, number * processes.count + processes.rank)
        batch, longest = _padded_units(bench, chunk)
        with bench.autocast():
            of_rows, norms = clip_per_unit(bench.network, batch, settings.clip, longest, bench.alphas)
        clipped += int((norms > settings.clip).sum())
        losses.append((of_rows * batch.weights).sum() / len(chunk))
    return losses, clipped


def _chunks(owned: Sequence[Sequence[int]], rows_at_once: int) -> list[list[Sequence[int]]]:
    """As many units at a time as `rows_at_once` allows, units of like length together."""
    chunks: list[list[Sequence[int]]] = []
    for rows in sorted(owned, key=len):  # the longest so far: the chunk is padded to it
        if chunks and (len(chunks[-1]) + 1) * len(rows) <= rows_at_once:
            chunks[-1].append(rows)
        else:
            chunks.append([rows])
    return chunks


def _padded_units(bench: Workbench, owned: Sequence[Sequence[int]]) -> tuple[AnyBatch, int]:
    """Rows of each unit together, filled up with rows of weight 0; a unit's gradient is the mean over its rows."""
    longest = max(map(len, owned))
    rows, weights = [], []
    for own in owned:
        filled = [*own, *[own[0]] * (longest - len(own))]
        rows += [bench.rows[row] for row in filled]
        weights += [1 / len(own)] * len(own) + [0.0] * (longest - len(own))
    return bench.task.collate(rows, weights).to(bench.processes.device), longest


def _mean(losses: list[torch.Tensor]) -> float:
    return float(torch.stack(losses).mean()) if losses else 0.0
