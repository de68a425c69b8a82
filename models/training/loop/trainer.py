"""The loop: steps within the plan, a checkpoint now and then, validation after each epoch, a stop when it pays no more."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import torch

from sottovoce.models.errors import RunError
from sottovoce.models.training.privacy.edp import StepResult, Workbench, gradient_of_step


class NotFinite(RunError):
    """The gradient is no number any more."""


class Watcher(Protocol):
    """Sees how training goes. What it sees of steps comes from private rows: it must stay with the data."""

    def step(self, step: int, result: StepResult, seconds: float) -> None:
        """Called after each step with what it computed and how long it took."""

    def epoch(self, epoch: int, scores: Mapping[str, float] | None) -> None:
        """Called after each epoch; `scores` are None where nothing was validated."""


@dataclass
class Progress:
    """What a checkpoint keeps besides the weights. `step` is the next one to take."""

    step: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    best_score: float | None = None
    best_epoch: int = 0
    stopped_early: bool = False


@dataclass
class Trainer:
    """One training from its first step, or from a checkpoint, to its last; with `patience` to its best weights."""

    bench: Workbench
    labels: Any
    validation: list[Any]
    validation_rows: list[Any]
    watcher: Watcher
    save: Callable[[dict[str, Any]], None]
    progress: Progress = field(default_factory=Progress)
    best_weights: dict[str, torch.Tensor] | None = None

    def __post_init__(self) -> None:
        settings, parameters = self.bench.plan.settings, self.bench.flat.parameters
        if settings.optimizer == "adam":
            self.optimizer: torch.optim.Optimizer = torch.optim.Adam(parameters, settings.learning_rate, fused=True)
        else:
            self.optimizer = torch.optim.SGD(parameters, settings.learning_rate)

    def run(self) -> Progress:
        plan, settings = self.bench.plan, self.bench.plan.settings
        self.bench.network.train()
        if self.progress.step == 0:
            self._save()  # the key and a release of alpha survive from here on
        while self.progress.step < plan.steps and not self.progress.stopped_early:
            self._step()
            ended = self.progress.step % plan.steps_per_epoch == 0
            if ended:
                self._judge(self.progress.step // plan.steps_per_epoch)
            if ended or self.progress.step % settings.checkpoint_steps == 0:
                self._save()
        if self.best_weights is not None:
            self.bench.network.load_state_dict(self.best_weights)
        self.bench.network.eval()
        return self.progress

    def _step(self) -> None:
        step, began = self.progress.step, time.monotonic()
        self.bench.plan.check_step(step)
        result = gradient_of_step(self.bench, step)
        # all processes hold the same sum, so all of them see it together
        if not bool(torch.isfinite(self.bench.flat.vector.sum())):
            self._save()
            raise NotFinite(
                f"step {step + 1}: the loss is not finite; the weights of the {step} steps before are kept in the "
                "checkpoint, and the ledger counts this step. A lower learning_rate is the usual cure"
            )
        self.optimizer.step()
        self.progress.step = step + 1
        self.watcher.step(step, result, time.monotonic() - began)

    def _judge(self, epoch: int) -> None:
        scores = None
        if self.validation:
            task = self.bench.task
            scores = task.evaluate(self.bench.network, self.validation_rows, self.validation, self.labels)
            self.progress.history.append({"epoch": epoch, **scores})
            self._consider_stopping(epoch, scores[task.judged_by])
        self.watcher.epoch(epoch, scores)

    def _consider_stopping(self, epoch: int, score: float) -> None:
        patience = self.bench.plan.settings.patience
        if patience is None:
            return
        if self.progress.best_score is None or score < self.progress.best_score:
            self.progress.best_score, self.progress.best_epoch = score, epoch
            state = self.bench.network.state_dict()
            self.best_weights = {name: tensor.detach().clone() for name, tensor in state.items()}
        elif epoch - self.progress.best_epoch >= patience:
            self.progress.stopped_early = True

    def _save(self) -> None:
        self.save(
            {
                "progress": asdict(self.progress),
                "network": self.bench.network.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "alphas": self.bench.alphas,
                "alpha_max": self.bench.plan.alpha_max,
                "best_weights": self.best_weights,
            }
        )

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from a checkpoint: progress, weights, state of the optimizer, and the best weights so far."""
        self.progress = Progress(**state["progress"])
        self.bench.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.best_weights = state["best_weights"]
