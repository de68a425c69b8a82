"""The tables of Dupuy et al.: what each way of training costs in understanding, and what it still gives away.

Per data set, model and method: SER on the test set, AUC of membership inference with its interval, epsilon by the
published formula and the one that holds, seconds per epoch as a ratio to plain training measured beside it. A quarter
of the data trains the target, a quarter was never seen by it; the other two play the same parts for the shadow model.
Rows are saved as they come: a run that was cut short goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.attacks.membership import Attack, lira_attack, shadow_attack
from sottovoce.models.randomness import Secret
from sottovoce.models.training.batches import encode
from sottovoce.models.training.examples import Example, Labels, labels_of, read_corpus
from sottovoce.models.training.loop.evaluation import Confidence, confidence, evaluate
from sottovoce.models.training.loop.prepare import Prepared
from sottovoce.models.training.loop.processes import join
from sottovoce.models.training.loop.start import start_trainer
from sottovoce.models.training.loop.trainer import Trainer
from sottovoce.models.training.privacy.edp import StepResult
from sottovoce.models.training.train_settings import TrainSettings

METHODS: dict[str, dict[str, Any]] = {
    "SGD": {"mode": "plain"},
    "eDP-SGD, no decay": {"mode": "paper", "decay": "none"},
    "eDP-SGD, linear decay": {"mode": "paper", "decay": "linear"},
    "eDP-SGD, exponential decay": {"mode": "paper", "decay": "exp"},
    "per example": {"mode": "per_example", "sampling": "poisson"},
}


@dataclass(frozen=True)
class TrainingStudy:
    """How large the tables are made. `lira_models` shadow models per row, 0 for none, otherwise even."""

    settings: TrainSettings
    models: dict[str, Any]
    target_examples: int | None
    test_examples: int | None
    lira_models: int = 0
    seed: int = 1


QUICK = TrainingStudy(
    settings=TrainSettings(z0=0.5, tau=0.1, epochs=30, batch_size=64, n_micro=4, learning_rate=1e-2),
    models={
        "clc": {"use": "clc", "hidden": 48, "layers": 1, "word_size": 32, "buckets": 2000, "filters": 16},
        "bert": {
            "use": "bert",
            "layers": 2,
            "hidden": 48,
            "heads": 4,
            "feed_forward": 96,
            "buckets": 2000,
            "dropout": 0.0,
        },
    },
    target_examples=640,
    test_examples=300,
)
FULL = TrainingStudy(
    settings=TrainSettings(z0=1.0, tau=0.1, epochs=20, batch_size=64, n_micro=8, learning_rate=1e-3),
    models={"clc": "clc", "bert": "bert"},
    target_examples=None,
    test_examples=None,
    lira_models=8,
)


class _Clock:
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
        return self._seconds / max(self._steps, 1)

    def epoch(self, epoch: int, scores: Mapping[str, float] | None) -> None:
        pass


@dataclass(repr=False)
class Parts:
    """The quarters of one data set, its test set and its schema."""

    target: list[Example]
    unseen: list[Example]
    shadow: list[Example]
    shadow_unseen: list[Example]
    test: list[Example]
    labels: Labels


def run_study(
    study: TrainingStudy, datasets: dict[str, Path], methods: Sequence[str], out: Path
) -> Iterator[dict[str, Any]]:
    """Rows of the table, in order; those that `out` already holds for this study are not run again."""
    saved = out / "rows.jsonl"
    done = [json.loads(line) for line in saved.read_text().splitlines()] if saved.exists() else []
    for dataset, path in datasets.items():
        parts = split(path, study)
        for model in study.models:
            for method in methods:
                key = _key(study, dataset, model, method)
                row = next((old for old in done if old["key"] == key), None)
                if row is None:
                    row = {"key": key, "dataset": dataset, "model": model, "method": method}
                    row |= measure(study, parts, model, method)
                    with saved.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                yield row


def split(path: Path, study: TrainingStudy) -> Parts:
    train, test = read_corpus(path, "train").examples, read_corpus(path, "test").examples
    if len(train) < 80 or not test:
        raise CorpusError(f"{path.name}: expected rows with `split` train (80 or more) and test")
    draw = np.random.default_rng(study.seed)
    order, tested = draw.permutation(len(train)), draw.permutation(len(test))[: study.test_examples]
    size = min(study.target_examples or len(train), len(train) // 4)
    quarters = [[train[row] for row in order[part * size : (part + 1) * size]] for part in range(4)]
    target, unseen, shadow, shadow_unseen = quarters
    # drawn, not the first ones: a file may be sorted by intent
    return Parts(target, unseen, shadow, shadow_unseen, [test[row] for row in tested], labels_of(train))


def measure(study: TrainingStudy, parts: Parts, model: str, method: str) -> dict[str, Any]:
    settings = replace(study.settings, model=study.models[model], validation_share=0.0, **METHODS[method])
    trainer, seconds = _train(settings, parts.target, parts.labels, study.seed)
    scores = evaluate(trainer.bench.network, _encoded(settings, parts.test, parts.labels), parts.test, parts.labels)
    target = [_confidence(trainer, settings, part, parts.labels) for part in (parts.target, parts.unseen)]
    shadow_trainer, _ = _train(settings, parts.shadow, parts.labels, study.seed + 1)
    shadow = [_confidence(shadow_trainer, settings, part, parts.labels) for part in (parts.shadow, parts.shadow_unseen)]
    attack = shadow_attack(shadow[0].features, shadow[1].features, target[0].features, target[1].features)
    plan = trainer.bench.plan
    sound, claimed = plan.sound(), plan.claimed()
    return {
        **asdict(scores),
        "mia": _attack_row(attack),
        "lira": _lira(study, settings, parts, target) if study.lira_models else None,
        "epsilon_published": claimed.epsilon if claimed else None,
        "epsilon_sound": sound.epsilon if sound else "inf",
        "delta": plan.delta if sound else None,
        "train_examples": len(parts.target),
        "seconds_per_epoch": seconds,
    }


def _train(settings: TrainSettings, examples: list[Example], labels: Labels, seed: int) -> tuple[Trainer, float]:
    prepared = Prepared(examples, [], labels, [[row] for row in range(len(examples))], 0)
    # public data and no release: a secret that anybody can make again
    secret, processes = Secret(hashlib.sha256(f"experiment {seed}".encode()).digest()), join(settings.device)
    clock = _Clock(processes.device.type)
    trainer = start_trainer(settings, prepared, secret, processes, clock, lambda kept: None)
    trainer.run()
    return trainer, clock.seconds_per_step * trainer.bench.plan.steps_per_epoch


def _lira(study: TrainingStudy, settings: TrainSettings, parts: Parts, target: list[Confidence]) -> dict[str, Any]:
    """Each pair of shadow models shares the sentences out, so every one is seen by one of the two."""
    pool = [*parts.target, *parts.unseen]
    draw = np.random.default_rng(study.seed + 2)
    seen: list[np.ndarray] = []
    odds: list[np.ndarray] = []
    for number in range(study.lira_models):
        half = draw.permutation(len(pool)) < len(pool) // 2 if number % 2 == 0 else ~seen[-1]
        chosen = [example for example, kept in zip(pool, half, strict=True) if kept]
        trainer, _ = _train(settings, chosen, parts.labels, study.seed + 10 + number)
        seen.append(half)
        odds.append(_confidence(trainer, settings, pool, parts.labels).log_odds)
    said = np.concatenate([part.log_odds for part in target])
    member = np.arange(len(pool)) < len(parts.target)
    return _attack_row(lira_attack(said, member, np.stack(odds), np.stack(seen)))


def _confidence(trainer: Trainer, settings: TrainSettings, examples: list[Example], labels: Labels) -> Confidence:
    return confidence(trainer.bench.network, _encoded(settings, examples, labels))


def _encoded(settings: TrainSettings, examples: list[Example], labels: Labels) -> Any:
    return encode(examples, settings.member.make().encoder(), labels)


def _attack_row(attack: Attack) -> dict[str, Any]:
    hits = {f"hits_at_{rate:g}": found.value for rate, found in attack.hits.items()}
    return {"auc": attack.auc.value, "auc_low": attack.auc.low, "auc_high": attack.auc.high, **hits}


def _key(study: TrainingStudy, dataset: str, model: str, method: str) -> str:
    """All that a row depends on: the other models of the study have no say."""
    alone = replace(study, models={model: study.models[model]})
    text = json.dumps([asdict(alone), dataset, model, method, METHODS[method]], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown; the ratio is to SGD on the same data and model."""
    lines = [
        "| data | model | method | SER | intent | slot F1 | MIA AUC [95 %] | hits at 1 % | eps published | eps sound | x SGD |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        plain = [r for r in rows if (r["dataset"], r["model"], r["method"]) == (row["dataset"], row["model"], "SGD")]
        ratio = f"{row['seconds_per_epoch'] / plain[0]['seconds_per_epoch']:.2f}" if plain else "-"
        mia = row["lira"] or row["mia"]
        area = f"{row['mia']['auc']:.3f} [{row['mia']['auc_low']:.3f}, {row['mia']['auc_high']:.3f}]"
        lines.append(
            f"| {row['dataset']} | {row['model']} | {row['method']} | {row['ser']:.3f} | {row['intent_accuracy']:.3f} "
            f"| {row['slot_f1']:.3f} | {area} | {mia['hits_at_0.01']:.3f} | {_figure(row['epsilon_published'])} "
            f"| {_figure(row['epsilon_sound'])} | {ratio} |"
        )
    return "\n".join(lines) + "\n"


def _figure(epsilon: float | str | None) -> str:
    if epsilon is None:
        return "-"
    return "inf" if epsilon in ("inf", math.inf) else f"{float(epsilon):.3g}"
