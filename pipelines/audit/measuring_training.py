"""Trainings that are made to be measured: the settings and the rows of the real one, and canaries of which each is in by a coin;
and, to tell members from others, several on half of the units each.

Whether a canary or a unit is in must be all that its coin changes. So all of them count as units, those that are out are left
out of every batch that they are drawn for, and the number of units, of steps and the plan are the same whatever the coins say:
what is measured is one unit more or less, as adjacency has it. The models are given to nobody and are gone with the audit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.material import Membership, Missing, TrainedCanaries
from sottovoce.models.evaluation.audit.trials import NotApplicable, NotMeasurable
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.training.loop.prepare import Prepared, prepare
from sottovoce.models.training.loop.processes import join
from sottovoce.models.training.loop.start import start_trainer
from sottovoce.models.training.loop.trainer import Trainer
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import units_of_run
from sottovoce.pipelines.training.train_model import read_settings

NEVER = 1000  # others of the same form, whom exposure is told among
MEASURED_ON_ALL = (
    "noisy_release",
    "private_batch",
)  # alpha that is measured on a draw of all units, whatever their coins


def measuring_trainings(
    run: str, commit: str, config: str, audit: AuditSettings
) -> tuple[TrainedCanaries | Missing, Membership | Missing]:
    """Of the training that `config` describes on the run in the folder `run`, whose commit is `commit`."""
    settings = read_settings(config)
    if missing := _not_measurable(run, settings):
        return missing, missing
    task, key = task_of(settings.task), fresh_secret()
    prepared = prepare(str(Path(run) / task.sink), settings, key, commit, units_of_run(Path(run), task.sink))
    settings = prepared.settings or settings
    canaries = trained_canaries(prepared, settings, key, audit.trained_canaries)
    if not audit.shadow_models:
        return canaries, NotApplicable("no shadow models were asked for (audit.shadow_models: 0)")
    return canaries, membership(prepared, settings, key, audit.shadow_models)


def _not_measurable(run: str, settings: TrainSettings) -> NotMeasurable | None:
    if "://" in run:
        return NotMeasurable("a run on this machine, to train on it")
    if settings.member.make().counts:
        return NotMeasurable("a training by gradients; this one counts n-grams")
    if settings.alpha in MEASURED_ON_ALL:
        return NotMeasurable(f"a training whose layers are not weighed by its rows (alpha: {settings.alpha})")
    return None


def trained_canaries(prepared: Prepared, settings: TrainSettings, key: Secret, canaries: int) -> TrainedCanaries:
    """Train once, with each canary in by a coin, and tell how much likelier the model finds each afterwards. Others that
    never had a coin are scored beside them; epsilon is infinite where the training proves none."""
    task, draw = task_of(settings.task), key.generator("canaries of a training")
    invented = [task.canary(prepared.train, draw) for _ in range(canaries + NEVER)]
    included = key.generator("coins of canaries").random(canaries) < 0.5
    left_out = len(prepared.units) + np.flatnonzero(~included)
    trainer = _trainer(_with(prepared, invented[:canaries]), settings, key, left_out)
    rows = task.encode(invented, settings.member.make(), prepared.labels)
    before = _likelihood(trainer, rows)
    trainer.run()
    gained = _likelihood(trainer, rows) - before
    sound = trainer.bench.plan.sound()
    return TrainedCanaries(
        gained[:canaries], included, gained[canaries:], sound.epsilon if sound else math.inf, trainer.bench.plan.delta
    )


def membership(prepared: Prepared, settings: TrainSettings, key: Secret, shadows: int) -> Membership:
    """Shadow models go in pairs that share the units out, so that some have seen a row and some have not. Each training has a
    key of its own: an attacker does not have the noise of the one under attack."""
    draw, count = key.generator("halves of units"), len(prepared.units)
    drawn = [draw.permutation(count) < count // 2 for _ in range(1 + shadows // 2)]
    halves = np.array([drawn[0], *(side for half in drawn[1:] for side in (half, ~half))])  # the first is attacked
    used = [row for rows in prepared.units for row in rows]
    unit = np.repeat(np.arange(count), [len(rows) for rows in prepared.units])
    rows = task_of(settings.task).encode([prepared.train[row] for row in used], settings.member.make(), prepared.labels)
    said = []
    for half in halves:
        trainer = _trainer(_with(prepared, ()), settings, fresh_secret(), np.flatnonzero(~half))
        trainer.run()
        said.append(_likelihood(trainer, rows))
    trained_on = halves[:, unit]
    return Membership(said[0], trained_on[0], np.array(said[1:]), trained_on[1:], unit)


def _trainer(prepared: Prepared, settings: TrainSettings, key: Secret, left_out: np.ndarray) -> Trainer:
    """Of a model that nobody keeps, from which some units are left out."""
    trainer = start_trainer(settings, prepared, key, join(settings.device), _Nobody(), lambda kept: None)
    trainer.bench.sampler = cast(Sampler, _Without(trainer.bench.sampler, left_out))
    return trainer


def _with(prepared: Prepared, canaries: Sequence[Any]) -> Prepared:
    """Each canary is a unit of its own. The model is not judged on the way: patience would stop it at other steps."""
    first = len(prepared.train)
    units = [*prepared.units, *([first + number] for number in range(len(canaries)))]
    return replace(prepared, train=[*prepared.train, *canaries], units=units, validation=[])


def _likelihood(trainer: Trainer, rows: Sequence[Any]) -> np.ndarray:
    return trainer.bench.task.confidence(trainer.bench.network, rows).log_odds


@dataclass
class _Without:
    """Draws as the sampler does, and leaves some units out of what was drawn."""

    sampler: Sampler
    left_out: np.ndarray

    def draw(self, step: int, purpose: str = "step") -> list[np.ndarray]:
        return [units[~np.isin(units, self.left_out)] for units in self.sampler.draw(step, purpose)]


class _Nobody:
    """Watches, and tells nobody."""

    def step(self, *_: Any) -> None:
        pass

    def epoch(self, *_: Any) -> None:
        pass
