"""Attacker: has two models that were trained on neighbouring data with the same settings, and subtracts their weights.

One sentence differs, and the attacker has a list of what it may be. If both trainings drew the same noise, it cancels:
what is left is the gradient of that sentence, which is compared with the gradient of each candidate. Attackers may compute
gradients themselves, since the code is public and the first model is in their hands.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import torch
import yaml
from adversary import Operator, as_outsider, assert_learnt, assert_only_guessed, weakened
from safetensors.torch import load_file
from tiny_training import sentences, write_jsonl
from whole_runs import sottovoce

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source
from sottovoce.models.training.batches import collate, encode
from sottovoce.models.training.examples import Example
from sottovoce.models.training.loop.export import load_model

pytestmark = pytest.mark.slow
# One step over all sentences: the difference of two models is then one noised gradient. More steps only blur the picture.
TRAIN = {
    "model": {"use": "clc", "hidden": 8, "word_size": 8, "buckets": 64, "filters": 4, "character_size": 4},
    "mode": "per_example",
    "z0": 4.0,
    "epochs": 1,
    "batch_size": 40,
    "n_micro": 1,
    "optimizer": "sgd",
    "learning_rate": 0.02,
    "validation_share": 0.0,
    "intents": ["book", "play", "wake"],
    "slots": ["artist", "city", "time"],
}
OTHERS = sentences(39)
CANDIDATES = [row for row in sentences(400, seed=7) if row not in OTHERS]
CANDIDATES = list({" ".join(row["tokens"]): row for row in CANDIDATES}.values())[:32]
TRUTHS = (5, 12, 19, 26)


def trained(operator: Operator, name: str, secret_sentence: dict) -> Path:
    """The model that is given away; its private folder stays."""
    data = write_jsonl(operator.home / f"{name}.jsonl", [*OTHERS, secret_sentence])
    (operator.home / "train.yaml").write_text(yaml.safe_dump(TRAIN))
    done = sottovoce("train", "--data", data, "--config", operator.home / "train.yaml", "--out", operator.home / name)
    operator.said.append(done)
    card = json.loads((operator.home / name / "model" / "privacy_card.json").read_text())
    assert card["epsilon"] < 3, "both models claim strong privacy"
    model = operator.folder / "handed on" / name
    model.parent.mkdir(exist_ok=True)
    subprocess.run(["cp", "-r", operator.home / name / "model", model], check=True)
    return model


def attack(first: Path, second: Path, known: dict) -> tuple[float, int, float]:
    """(distance of the models, the candidate that explains it best, how well); `known` was in the place of the secret."""
    before, after = (load_file(folder / "weights.safetensors") for folder in (first, second))
    network, encoder, labels = load_model(first)
    names = [name for name, _ in network.named_parameters()]
    difference = torch.cat([(after[name] - before[name]).flatten() for name in names])

    def gradient(row: dict) -> torch.Tensor:
        example = Example(tuple(row["tokens"]), tuple(row["tags"]), row["intent"], Source("guess", 1))
        network.zero_grad()
        network(collate(encode([example], encoder, labels))).sum().backward()
        whole = torch.cat([p.grad.flatten() for p in network.parameters()])
        return whole / whole.norm().clamp_min(1.0)

    subtracted = gradient(known)
    fits = [float(torch.cosine_similarity(subtracted - gradient(row), difference, dim=0)) for row in CANDIDATES]
    best = max(range(len(fits)), key=fits.__getitem__)
    return float(difference.norm()), best, fits[best]


def guesses(operator: Operator, truths: tuple[int, ...]) -> list[tuple[float, int, float]]:
    known = CANDIDATES[0]
    first = trained(operator, "first", known)
    others = [trained(operator, f"second-{truth}", CANDIDATES[truth]) for truth in truths]
    return [as_outsider(attack, first, other, known) for other in others]


def test_noise_that_repeats_cancels_and_the_sentence_is_found(tmp_path):
    one_key = {"sottovoce.pipelines.training.train_model:fresh_secret": lambda: Secret(b"one key of all trainings")}
    with weakened("a key for each training", one_key):
        found = guesses(Operator(tmp_path), TRUTHS)
    right = [best == truth for (_, best, _), truth in zip(found, TRUTHS, strict=True)]
    assert_learnt(sum(right), len(right), 1 / len(CANDIDATES))
    apart = TRAIN["learning_rate"] * 2 / TRAIN["batch_size"]  # how far one sentence can move the model
    assert max(distance for distance, _, _ in found) < 1.01 * apart


def test_our_models_differ_by_their_noise_and_tell_nothing_of_the_sentence(tmp_path):
    found = guesses(Operator(tmp_path), TRUTHS[:2])
    right = [best == truth for (_, best, _), truth in zip(found, TRUTHS, strict=False)]
    assert_only_guessed(sum(right), len(right), 1 / len(CANDIDATES))
    # In some thousand dimensions a direction of noise is nearly square to any other.
    assert max(abs(fit) for _, _, fit in found) < 0.2
    apart = TRAIN["learning_rate"] * 2 / TRAIN["batch_size"]
    assert min(distance for distance, _, _ in found) > 100 * apart
