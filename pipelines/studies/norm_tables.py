"""COMPRISE D2.3, Tables 10 to 12, on speech: how deep a network may be at an epsilon, by what its normalisation looks at.

A network of convolutions (`networks/conv.py`) learns to tell single spoken words apart, each an example. For each epsilon the
noise is that of Poisson sampling at this epsilon, for every norm alike: what D2.3 claims for `paper`, too, whose figure that
holds stands beside it. `none` is DPSGD as D2.3 compares with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.studies.kept_steps import KeptStep, KeptSteps, identity_of
from sottovoce.pipelines.studies.trial import train_once

CODE = 1  # of these trainings: one more where what they measure changes
COST_MS = 0.12  # of CPU, for an example and a layer: a guess


@dataclass(frozen=True)
class NormStudy:
    """`epsilons`: None is training without privacy."""

    public_data: str
    norms: tuple[str, ...]
    depths: tuple[int, ...]
    epsilons: tuple[float | None, ...]
    width: int = 32
    epochs: int = 12
    batch_size: int = 256
    learning_rate: float = 1e-2
    delta: float = 1e-4
    seed: int = 1

    def settings(self, norm: str, depth: int, epsilon: float | None, signs: str, examples: int) -> TrainSettings:
        """The training of one cell. `paper` gets the noise that the other norms need at this epsilon, as a fixed z0;
        `signs` are the characters of the words, `examples` is how many there are to train on."""
        base = TrainSettings(
            task="am", model={"use": "conv", "norm": norm, "depth": depth, "width": self.width, "alphabet": signs, "whole": True},
            mode="per_example", target_epsilon=epsilon or 1.0, delta=self.delta, epochs=self.epochs, unit="example",
            batch_size=self.batch_size, learning_rate=self.learning_rate, public_data=self.public_data, validation_share=0.0,
        )  # fmt: skip
        if epsilon is None:
            return replace(base, mode="plain", target_epsilon=None)
        if norm != "paper":
            return base
        by_coins = make_plan(replace(base, model={"use": "conv", "norm": "layer"}), examples, 1)
        return replace(base, sampling="shuffle", target_epsilon=None, z0=by_coins.z0)


@dataclass(frozen=True)
class NormCell:
    """One cell of the tables, by norm, depth and epsilon (None: without privacy), and the step that measures it."""

    norm: str
    depth: int
    epsilon: float | None
    step: KeptStep


def cells(study: NormStudy, train: Sequence[Any], test: Sequence[Any]) -> Iterator[NormCell]:
    """By epsilon, then depth, then norm; nothing is trained before the step of a cell is asked for its result."""
    task = task_of("am")
    signs = "".join(sorted({example.text for example in train}))
    for epsilon in study.epsilons:
        for depth in study.depths:
            for norm in study.norms:
                settings = study.settings(norm, depth, epsilon, signs, len(train))
                depends = (CODE, settings, study.seed, [one.content for one in train], [one.content for one in test])
                passes = 2 if settings.member.make().needs_public else 1
                cost_s = len(train) * study.epochs * (depth + 3) * passes * COST_MS / 1000

                def work(settings: TrainSettings = settings) -> dict[str, Any]:
                    trainer, seconds = train_once(settings, train, task.schema(train, settings), study.seed)
                    rows = task.encode(test, settings.member.make(), None)
                    sound = trainer.bench.plan.sound()
                    scores = task.evaluate(trainer.bench.network, rows, test, None)
                    return {
                        **scores,
                        "epsilon_sound": sound.epsilon if sound else math.inf,
                        "z0": trainer.bench.plan.z0,
                        "seconds_per_step": seconds,
                    }

                said = "without privacy" if epsilon is None else f"epsilon {epsilon:g}"
                yield NormCell(
                    norm,
                    depth,
                    epsilon,
                    KeptStep(f"{norm}, depth {depth}, {said}", identity_of(*depends), cost_s, work),
                )


def table(found: Sequence[NormCell], kept: KeptSteps) -> str:
    """Words that are not recognised, %: a row for each norm and depth, a column for each epsilon; cells that are done."""
    epsilons = list(dict.fromkeys(cell.epsilon for cell in found))
    heads = ["without privacy" if epsilon is None else f"epsilon {epsilon:g}" for epsilon in epsilons]
    lines = [
        f"| norm | depth | {' | '.join(heads)} | epsilon that holds |",
        "|---|---" + "|---" * (len(epsilons) + 1) + "|",
    ]
    for norm, depth in dict.fromkeys((cell.norm, cell.depth) for cell in found):
        own = {cell.epsilon: cell for cell in found if (cell.norm, cell.depth) == (norm, depth)}
        done = {epsilon: kept.result(cell.step) for epsilon, cell in own.items() if kept.has(cell.step)}
        errors = [f"{min(100.0, 100 * done[e]['letter_errors']):.1f}" if e in done else "" for e in epsilons]
        holds = ", ".join(f"{done[e]['epsilon_sound']:.3g}" for e in epsilons if e in done and e is not None)
        lines.append(f"| {norm} | {depth} | {' | '.join(errors)} | {holds} |")
    return "\n".join(lines) + "\n"
