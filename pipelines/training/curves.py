"""How a training goes, for its operator: lines on the terminal, and exact curves for TensorBoard in the private folder.

What a job prints ends up in the logs of its cluster, which others read: there the lines tell no exact figure.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.models.training.loop.prepare import Prepared
    from sottovoce.models.training.loop.trainer import Trainer
    from sottovoce.models.training.privacy.edp import StepResult
    from sottovoce.models.training.privacy.plan import Plan


class Curves:
    """The Watcher of `sottovoce train`: exact losses go into the private folder, and to a terminal, but into no log."""

    def __init__(self, folder: Path, quiet: bool):
        self._folder, self._quiet = folder, quiet
        self._losses: list[float] = []
        self._writer: Any = None
        self._plan: Plan | None = None
        self._began = time.monotonic()

    def begin(self, trainer: Trainer, prepared: Prepared, resumed: bool) -> None:
        self._plan = plan = trainer.bench.plan
        if self._quiet:
            return
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(self._folder), purge_step=trainer.progress.step)
        settings, sound = plan.settings, plan.sound()
        print(
            f"training {settings.member.name} for {settings.task} in mode {settings.mode} on {len(prepared.train)} examples "
            f"({plan.n} {settings.protects}s), {plan.steps} steps in {settings.epochs} epochs, {trainer.bench.processes.count} "
            f"process(es) on {trainer.bench.processes.device.type}"
        )
        if prepared.left_out:
            print(f"{prepared.left_out} rows {trainer.bench.task.left_out_because} and are left out")
        if sound:
            print(
                f"budget: epsilon {sound.epsilon:.4g} at delta {plan.delta:.3g} per {settings.protects} (z0 = {plan.z0:.4g})"
            )
        claimed = plan.claimed()
        if claimed:
            print(f"budget by the published formula, a claim: epsilon {claimed.epsilon:.4g}")
        if resumed:
            print(f"resumed after step {trainer.progress.step}")

    def step(self, step: int, result: StepResult, seconds: float) -> None:
        if self._quiet:
            return
        self._losses.append(result.loss)
        self._writer.add_scalar("private/loss", result.loss, step)
        self._writer.add_scalar("private/clipped_share", result.clipped_share, step)
        self._writer.add_scalar("seconds_per_step", seconds, step)
        if sys.stderr.isatty() and self._plan is not None:
            print(f"\rstep {step + 1} of {self._plan.steps}  loss {result.loss:.3f} ", end="", file=sys.stderr)

    def epoch(self, epoch: int, scores: Mapping[str, float] | None) -> None:
        if self._quiet or self._plan is None:
            return
        loss = sum(self._losses) / max(len(self._losses), 1)
        self._losses = []
        words = ""
        if scores:
            from sottovoce.models.training.privacy.card import in_words

            words = f"  {in_words(scores)}"
            for name, value in scores.items():
                self._writer.add_scalar(f"validation/{name}", value, epoch)
        z = self._plan.z((epoch - 1) * self._plan.steps_per_epoch)
        self._writer.add_scalar("noise/z", z, epoch)
        self._writer.flush()
        exact = f"  loss {loss:.3f}{words}" if sys.stdout.isatty() else ""
        print(f"epoch {epoch} of {self._plan.settings.epochs}{exact}  z {z:.3g}", flush=True)

    def end(self, card: dict[str, Any], model: Path) -> None:
        """The last lines, which may tell figures of the card alone; why nothing was learnt goes to a terminal only."""
        from sottovoce.pipelines.training.train_model import figure

        self._writer.close()
        seconds = time.monotonic() - self._began
        stop = ", stopped early" if card["stopped_early"] else ""
        print(f"done in {seconds:.0f} s: {card['steps_taken']} of {card['steps_planned']} steps{stop}")
        print(f"epsilon that holds, per {card['unit']}: {figure(card['epsilon'])}")
        if card["nothing_learnt"]:
            why = (
                f": {card['nothing_learnt']}"
                if sys.stdout.isatty()
                else " (why stands in done.json of the private folder)"
            )
            print(f"warning: the model learnt nothing{why}. More data, epochs or epsilon is the cure")
        print(f"model with its privacy card: {model}")
