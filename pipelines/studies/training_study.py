"""How large the tables of `evaluate training` are made, for each task: models, data and settings, quick and full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sottovoce.models.training.train_settings import TrainSettings

METHODS: dict[str, dict[str, Any]] = {
    "SGD": {"mode": "plain"},
    "eDP-SGD, no decay": {"mode": "paper", "decay": "none", "micro_at_once": True},
    "eDP-SGD, linear decay": {"mode": "paper", "decay": "linear", "micro_at_once": True},
    "eDP-SGD, exponential decay": {"mode": "paper", "decay": "exp", "micro_at_once": True},
    "per example": {"mode": "per_example", "sampling": "poisson"},
}
TIMES_SGD = {"plain": 1.0, "paper": 1.3, "per_example": 1.3}  # CPU seconds, by `benchmarks/training.py`


@dataclass(frozen=True)
class TrainingStudy:
    """`lira_models` shadow models per row, 0 for none, otherwise even. `cost_ms` of CPU a training example takes, by model:
    a guess, said before a study begins. `canaries` are planted among the target's examples."""

    settings: TrainSettings
    models: dict[str, Any]
    cost_ms: dict[str, float]
    scores: tuple[str, ...]  # that the table shows
    target_examples: int | None = None
    test_examples: int | None = None
    lira_models: int = 0
    canaries: int = 16
    seed: int = 1


def _quick(**changed: Any) -> TrainSettings:
    given = {"z0": 0.5, "tau": 0.1, "epochs": 30, "batch_size": 64, "n_micro": 4, "learning_rate": 1e-2}
    return TrainSettings(**given | changed)


def _full(**changed: Any) -> TrainSettings:
    given = {"z0": 1.0, "tau": 0.1, "epochs": 20, "batch_size": 64, "n_micro": 8, "learning_rate": 1e-3}
    return TrainSettings(**given | changed)


SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"
SCORES = {
    "slu": ("ser", "intent_accuracy", "slot_f1"),
    "lm": ("perplexity", "unigram_perplexity"),
    "am": ("letter_errors", "errors_elsewhere"),
    "dm": ("error", "majority_error"),
}
QUICK = {
    "slu": TrainingStudy(
        settings=_quick(),
        models={
            "clc": {"use": "clc", "hidden": 48, "layers": 1, "word_size": 32, "buckets": 2000, "filters": 16},
            "bert": {"use": "bert", "layers": 2, "hidden": 48, "heads": 4, "feed_forward": 96, "buckets": 2000, "dropout": 0.0},
        },
        cost_ms={"clc": 0.8, "bert": 0.8},
        scores=SCORES["slu"],
        target_examples=640,
        test_examples=300,
    ),
    "lm": TrainingStudy(
        settings=_quick(task="lm", epochs=8),
        models={"lstm": {"use": "lstm", "hidden": 64, "word_size": 32, "size": 2000, "longest": 24}},
        cost_ms={"lstm": 1.5},
        scores=SCORES["lm"],
        target_examples=640,
        test_examples=300,
    ),
    "am": TrainingStudy(
        settings=_quick(task="am", epochs=25, batch_size=32, learning_rate=3e-3),
        models={
            "conv": {"use": "conv", "depth": 3, "width": 48, "longest_s": 6.0},
            # single words, each with a sign of its own: `tools/cut_words.py`
            "words": {"use": "conv", "depth": 2, "width": 32, "longest_s": 2.0, "whole": True, "alphabet": SIGNS},
        },
        cost_ms={"conv": 2.5, "words": 0.6},
        scores=SCORES["am"],
        target_examples=480,
        test_examples=300,
    ),
    "dm": TrainingStudy(
        settings=_quick(task="dm", epochs=8, learning_rate=1e-2),
        models={"turns": {"use": "turns", "hidden": 48, "word_size": 32, "buckets": 2000, "longest": 24, "longest_turn": 16}},
        cost_ms={"turns": 1.5},
        scores=SCORES["dm"],
        target_examples=640,
        test_examples=300,
    ),
}  # fmt: skip
FULL = {
    "slu": TrainingStudy(_full(), {"clc": "clc", "bert": "bert"}, {"clc": 8.5, "bert": 7.1}, SCORES["slu"], lira_models=8),
    "lm": TrainingStudy(_full(task="lm"), {"lstm": "lstm"}, {"lstm": 3.0}, SCORES["lm"], lira_models=8),
    "am": TrainingStudy(_full(task="am"), {"conv": "conv"}, {"conv": 3.0}, SCORES["am"], lira_models=8),
    "dm": TrainingStudy(_full(task="dm"), {"turns": "turns"}, {"turns": 0.4}, SCORES["dm"], lira_models=8),
}  # fmt: skip
