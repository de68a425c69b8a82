"""Put a training together: network, units, plan, scaling, noise; fresh, or from a checkpoint with its count and its key.

Every draw of a training (who is held out, the first weights, units of a step, dropout, alpha, noise) is made from one
key. It is fresh randomness of the operating system, and nobody can give one: two trainings never share a draw, whatever
they share of data and settings. Were noise to repeat on neighbouring data, the difference of two models would be the
difference of the data. The key is kept in the checkpoint alone, which holds one training: `identity` refuses other data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import torch

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.loop.export import begin_from
from sottovoce.models.training.loop.prepare import Prepared, read_data
from sottovoce.models.training.loop.processes import Processes
from sottovoce.models.training.loop.trainer import Trainer, Watcher
from sottovoce.models.training.privacy.alpha import measure_alphas
from sottovoce.models.training.privacy.edp import Workbench
from sottovoce.models.training.privacy.flat import FlatGradients
from sottovoce.models.training.privacy.noise import NoiseSource
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings


def identity(settings: TrainSettings, prepared: Prepared) -> str:
    """A training is its settings and its data; where it runs and how often it saves is not part of it."""
    plain = {**asdict(settings), "checkpoint_steps": None, "device": None}
    text = json.dumps([plain, prepared.digest()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def check_identity(state: dict[str, Any] | None, name: str) -> None:
    """Raises a RunError where the checkpoint is of another training than `name`; no checkpoint is fine."""
    if state is not None and state["identity"] != name:
        raise RunError(
            "the checkpoint belongs to other settings or other data: its privacy count does not hold for these. "
            "Resume with the settings it began with, or begin anew in another folder, which is spent on top"
        )


def start_trainer(
    settings: TrainSettings,
    prepared: Prepared,
    key: Secret,
    processes: Processes,
    watcher: Watcher,
    save: Callable[[dict[str, Any]], None],
    state: dict[str, Any] | None = None,
) -> Trainer:
    """`state` is a checkpoint of this very training; another one is refused, since its count would not fit."""
    name = identity(settings, prepared)
    check_identity(state, name)
    bench = _bench(settings, prepared, key, processes, state)
    rows = bench.task.encode(prepared.validation, settings.member.make(), prepared.labels)

    def save_all(kept: dict[str, Any]) -> None:
        if processes.first:
            save({**kept, "identity": name, "key": key.value.hex()})

    trainer = Trainer(bench, prepared.labels, prepared.validation, rows, watcher, save_all)
    if state is not None:
        trainer.restore(state)
    return trainer


def _bench(
    settings: TrainSettings,
    prepared: Prepared,
    key: Secret,
    processes: Processes,
    state: dict[str, Any] | None,
) -> Workbench:
    plan = make_plan(settings, len(prepared.units), processes.count)
    member, task = settings.member.make(), task_of(settings.task)
    torch.manual_seed(int.from_bytes(key.digest("initial weights")[:8], "big") >> 1)
    network = member.network(prepared.labels).to(processes.device)
    if settings.public_weights is not None and state is None:
        begin_from(network, settings.public_weights, settings.task)
    public = _public_rows(settings, prepared)
    if member.needs_public:
        network.public = task.collate(public or []).to(processes.device)
    flat = FlatGradients(network)
    parts = settings.n_micro if settings.mode in ("paper", "sound") else 1
    bench = Workbench(
        network=network,
        task=task,
        rows=task.encode(prepared.train, member, prepared.labels),
        units=prepared.units,
        plan=plan,
        sampler=Sampler(key, settings.drawn_by, plan.n, settings.batch_size, parts),
        key=key,
        processes=processes,
        flat=flat,
        noise=NoiseSource(key, len(flat.vector), processes.device),
    )
    if state is not None:
        bench.alphas = state["alphas"]
    elif settings.mode != "plain":
        bench.alphas = measure_alphas(bench, public)
    bench.plan = replace(plan, alpha_max=max(bench.alphas.values()) if bench.alphas else 1.0)
    return bench


def _public_rows(settings: TrainSettings, prepared: Prepared) -> list[Any] | None:
    if settings.public_data is None:
        return None
    task = task_of(settings.task)
    examples = read_data(task, settings.public_data).examples[: settings.batch_size]
    usable = [row for row in examples if task.fits(row, prepared.labels)]
    if not usable:
        raise RunError("public_data: none of its first rows uses the names (intents, slots) of this training")
    return task.encode(usable, settings.member.make(), prepared.labels)
