"""The tables of Dupuy et al., for each task: what a way of training costs in use, and what it still gives away.

Per data set, model and method: scores on the test set, AUC of membership inference with its interval, exposure of examples that
were planted, epsilon by the published formula and the one that holds, CPU seconds as a ratio to plain training. A quarter of the
data trains the target, a quarter was never seen by it; the other two play the same parts for the shadow model. Each training is a
step of its own, kept as soon as it is done: a study that was cut short goes on with the next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.attacks.membership import MembershipAttack, lira_attack, shadow_attack
from sottovoce.models.evaluation.metrics.estimate import student
from sottovoce.models.evaluation.metrics.exposure import exposure, null_mean
from sottovoce.models.training.loop.prepare import read_data
from sottovoce.models.training.loop.trainer import Trainer
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.studies.kept_steps import KeptStep, KeptSteps, identity_of
from sottovoce.pipelines.studies.training_study import METHODS, TIMES_SGD, TrainingStudy
from sottovoce.pipelines.studies.trial import train_once

CANDIDATES = 200  # of the form of a canary, and never seen
CODE = 2  # of these trainings: one more where what they measure changes


@dataclass(repr=False)
class Parts:
    """The quarters of one data set, its test set, its schema, and what was planted among the target's examples."""

    target: list[Any]
    unseen: list[Any]
    shadow: list[Any]
    shadow_unseen: list[Any]
    test: list[Any]
    labels: Any
    planted: list[Any]
    candidates: list[Any]


@dataclass(frozen=True)
class TrainingRow:
    """A row of the table to be, with its trainings."""

    dataset: str
    task: str
    model: str
    method: str
    target: KeptStep
    shadow: KeptStep
    lira: tuple[KeptStep, ...]
    member: np.ndarray  # of the sentences that lira is about, which the target was trained on
    seen: np.ndarray  # [lira models, sentences]
    scores: tuple[str, ...]

    @property
    def steps(self) -> tuple[KeptStep, ...]:
        return (self.target, self.shadow, *self.lira)


def rows_of_study(study: TrainingStudy, dataset: str, path: Path, methods: Sequence[str]) -> Iterator[TrainingRow]:
    """A row for each model and method on one data set; nothing is trained before its steps are asked for."""
    parts = split(path, study)
    for model in study.models:
        for method in methods:
            yield _row(study, dataset, parts, model, method)


def split(path: Path, study: TrainingStudy) -> Parts:
    """Quarters and test set, drawn by the study's seed. CorpusError for fewer than 80 examples to train on, or none to test."""
    task = task_of(study.settings.task)
    train, test = (read_data(task, str(path), name).examples for name in ("train", "test"))
    draw = np.random.default_rng(study.seed)
    if not train and not test:  # nobody has split it: a fifth is tested on
        every = read_data(task, str(path)).examples
        order = draw.permutation(len(every))
        train, test = ([every[at] for at in part] for part in (order[len(every) // 5 :], order[: len(every) // 5]))
    if len(train) < 80 or not test:
        raise CorpusError(f"{path.name}: expected 80 or more {task.examples} with `split` train, and some with test")
    # drawn, not the first ones: a file may be sorted
    order, tested = draw.permutation(len(train)), draw.permutation(len(test))[: study.test_examples]
    size = min(study.target_examples or len(train), len(train) // 4)
    target, unseen, shadow, rest = ([train[row] for row in order[part * size : (part + 1) * size]] for part in range(4))
    made = [task.canary(rest, draw) for _ in range(study.canaries + CANDIDATES)] if study.canaries else []
    return Parts(
        target, unseen, shadow, rest, [test[row] for row in tested], task.schema(train, study.settings),
        made[: study.canaries], made[study.canaries :],
    )  # fmt: skip


def _row(study: TrainingStudy, dataset: str, parts: Parts, model: str, method: str) -> TrainingRow:
    settings = replace(study.settings, model=study.models[model], validation_share=0.0, **METHODS[method])
    pool, draw = [*parts.target, *parts.unseen], np.random.default_rng(study.seed + 2)
    halves: list[np.ndarray] = []
    for number in range(study.lira_models):  # each pair shares the examples out, so every one is seen by one of the two
        halves.append(draw.permutation(len(pool)) < len(pool) // 2 if number % 2 == 0 else ~halves[-1])

    def step(name: str, examples: list[Any], asked: dict[str, list[Any]], seed: int, tested: bool = False) -> KeptStep:
        cost_s = len(examples) * settings.epochs * study.cost_ms[model] * TIMES_SGD[settings.mode] / 1000
        depends = (
            CODE,
            settings,
            dataset,
            seed,
            name,
            [row.content for row in examples],
            [row.content for row in parts.test],
        )

        def work() -> dict[str, Any]:
            return measure(settings, parts, examples, asked, seed, tested)

        return KeptStep(f"{dataset}, {model}, {method}: {name}", identity_of(*depends), cost_s, work)

    planted = {"planted": parts.planted, "candidates": parts.candidates} if parts.planted else {}
    return TrainingRow(
        dataset, settings.task, model, method,
        target=step("target", [*parts.target, *parts.planted], {"in": parts.target, "out": parts.unseen, **planted},
                    study.seed, tested=True),
        shadow=step("shadow", parts.shadow, {"in": parts.shadow, "out": parts.shadow_unseen}, study.seed + 1),
        lira=tuple(
            step(f"lira {number + 1}", [row for row, kept in zip(pool, half, strict=True) if kept], {"all": pool},
                 study.seed + 10 + number)
            for number, half in enumerate(halves)
        ),
        member=np.arange(len(pool)) < len(parts.target), seen=np.array(halves), scores=study.scores,
    )  # fmt: skip


def measure(
    settings: TrainSettings, parts: Parts, examples: list[Any], asked: dict[str, list[Any]], seed: int, tested: bool
) -> dict[str, Any]:
    """One training: what it says of the examples that it is asked about, and of the test set where that is wanted."""
    trainer, seconds_per_step = train_once(settings, examples, parts.labels, seed)
    plan = trainer.bench.plan
    sound, claimed = plan.sound(), plan.claimed()
    said = {name: _confidence(trainer, settings, rows, parts.labels) for name, rows in asked.items()}
    return {
        "features": {name: one.features for name, one in said.items()},
        "log_odds": {name: one.log_odds for name, one in said.items()},
        "scores": _scores(trainer, settings, parts) if tested else {},
        "epsilon_published": claimed.epsilon if claimed else None,
        "epsilon_sound": sound.epsilon if sound else math.inf,
        "train_examples": len(examples),
        "seconds_per_epoch": seconds_per_step * plan.steps_per_epoch,
    }


def result(row: TrainingRow, kept: KeptSteps) -> dict[str, Any]:
    """The figures of one row: scores, attacks, exposure, epsilons. Does the trainings that are not kept yet."""
    target, shadow, *lira = (kept.result(step) for step in row.steps)
    sides = [one["features"][side] for one in (shadow, target) for side in ("in", "out")]
    attack = shadow_attack(*sides)
    found = {name: value for name, value in target.items() if name not in ("features", "log_odds")}
    found["epsilon_sound"] = "inf" if target["epsilon_sound"] == math.inf else target["epsilon_sound"]
    found |= {"dataset": row.dataset, "task": row.task, "model": row.model, "method": row.method, "shown": row.scores}
    by_example = None
    if lira:
        said = np.concatenate([target["log_odds"][side] for side in ("in", "out")])
        odds = np.stack([one["log_odds"]["all"] for one in lira])
        by_example = _attack_row(lira_attack(said, row.member, odds, row.seen))
    return {**found, "mia": _attack_row(attack), "lira": by_example, "exposure": _exposure(target["log_odds"])}


def _exposure(log_odds: dict[str, np.ndarray]) -> dict[str, float] | None:
    if "planted" not in log_odds:
        return None
    bits = [exposure(-one, -log_odds["candidates"]) for one in log_odds["planted"]]
    mean = student(bits)
    return {"bits": mean.value, "low": mean.low, "high": mean.high, "never_seen": null_mean(CANDIDATES + 1)}


def _scores(trainer: Trainer, settings: TrainSettings, parts: Parts) -> dict[str, float]:
    rows = trainer.bench.task.encode(parts.test, settings.member.make(), parts.labels)
    return dict(trainer.bench.task.evaluate(trainer.bench.network, rows, parts.test, parts.labels))


def _confidence(trainer: Trainer, settings: TrainSettings, examples: list[Any], labels: Any) -> Any:
    task = trainer.bench.task
    return task.confidence(trainer.bench.network, task.encode(examples, settings.member.make(), labels))


def _attack_row(attack: MembershipAttack) -> dict[str, Any]:
    hits = {f"hits_at_{rate:g}": found.value for rate, found in attack.hits.items()}
    return {"auc": attack.auc.value, "auc_low": attack.auc.low, "auc_high": attack.auc.high, **hits}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown; the ratio is to SGD on the same data and model."""
    lines = [
        "| data | model | method | scores | MIA AUC [95 %] | hits at 1 % | exposure, bits | eps published | eps sound | x SGD |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        plain = [r for r in rows if (r["dataset"], r["model"], r["method"]) == (row["dataset"], row["model"], "SGD")]
        ratio = f"{row['seconds_per_epoch'] / plain[0]['seconds_per_epoch']:.2f}" if plain else "-"
        mia, found = row["lira"] or row["mia"], row["exposure"]
        area = f"{row['mia']['auc']:.3f} [{row['mia']['auc_low']:.3f}, {row['mia']['auc_high']:.3f}]"
        bits = f"{found['bits']:.2f} [{found['low']:.2f}, {found['high']:.2f}]" if found else "-"
        scores = ", ".join(f"{name.replace('_', ' ')} {row['scores'][name]:.4g}" for name in row["shown"])
        lines.append(
            f"| {row['dataset']} ({row['task']}) | {row['model']} | {row['method']} | {scores} | {area} "
            f"| {mia['hits_at_0.01']:.3f} | {bits} | {_figure(row['epsilon_published'])} "
            f"| {_figure(row['epsilon_sound'])} | {ratio} |"
        )
    return "\n".join(lines) + "\n"


def _figure(epsilon: float | str | None) -> str:
    if epsilon is None:
        return "-"
    return "inf" if epsilon in ("inf", math.inf) else f"{float(epsilon):.3g}"
