"""One training of a study: on public data, by a key that anybody can make again, with its CPU seconds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.models.randomness import Secret
from sottovoce.models.training.loop.prepare import Prepared, units_of
from sottovoce.models.training.loop.processes import join
from sottovoce.models.training.loop.start import start_trainer
from sottovoce.models.training.loop.trainer import Trainer
from sottovoce.models.training.privacy.edp import StepResult
from sottovoce.models.training.train_settings import TrainSettings


class Clock:
    """A watcher that keeps the seconds of the steps: on a CPU its own ones, whatever else the machine does.

    The first steps, which load and compile, do not count.
    """

    def __init__(self, device: str) -> None:
        self._device, self._before = device, 0.0
        self._seconds, self._steps = 0.0, 0

    def step(self, step: int, result: StepResult, seconds: float) -> None:
        now = time.process_time()
        if step >= 3:
            self._seconds += now - self._before if self._device == "cpu" else seconds
            self._steps += 1
        self._before = now

    @property
    def seconds_per_step(self) -> float:
        """The mean over the steps that count; 0.0 before there is one."""
        return self._seconds / max(self._steps, 1)

    def epoch(self, epoch: int, scores: Mapping[str, float] | None) -> None:
        pass


def train_once(settings: TrainSettings, examples: Sequence[Any], labels: Any, seed: int) -> tuple[Trainer, float]:
    """(the trained one, CPU seconds of a step). A study releases nothing, so its key may be known."""
    prepared = Prepared(list(examples), [], labels, units_of(examples, settings), 0)
    secret, processes = Secret(hashlib.sha256(f"experiment {seed}".encode()).digest()), join(settings.device)
    clock = Clock(processes.device.type)
    trainer = start_trainer(settings, prepared, secret, processes, clock, lambda kept: None)
    trainer.run()
    return trainer, clock.seconds_per_step
