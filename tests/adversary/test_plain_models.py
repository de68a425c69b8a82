"""Attacker: has a model that was trained without privacy of its own, on texts whose replacement keeps a name now and then.

One caller has an intent of his own. The replacement leaves half of the names in place, which is an infinite epsilon; the
model learns which name goes with the intent, and tells whoever asks. Such a run starts no plain training, by hand or by
`start-training`, unless the operator has said in the gate what is allowed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import yaml
from adversary import NAMES, Operator, as_outsider, weakened
from whole_runs import only_run, sottovoce

from sottovoce.models.records import Source
from sottovoce.models.training.batches import collate, encode
from sottovoce.models.training.examples import Example
from sottovoce.models.training.loop.export import load_model

pytestmark = pytest.mark.slow
COUNT = 96
TRAIN = {
    "model": {"use": "clc", "hidden": 16, "word_size": 16, "buckets": 500, "filters": 4, "character_size": 4},
    "mode": "plain",
    "epochs": 40,
    "batch_size": 16,
    "learning_rate": 0.01,
    "validation_share": 0.0,
}


def corpus(the_caller: str) -> list[dict]:
    others = [name for name in NAMES if name != the_caller]
    said = [the_caller if number % 4 == 0 else others[number % 3] for number in range(COUNT)]
    return [{"id": f"u{n}", "dialogue_id": f"d{n}", "speaker_id": f"s{n}", "turn": 0, "text": f"call {name}",
             "intent": "his" if name == the_caller else "theirs"} for n, name in enumerate(said)]  # fmt: skip


def attack(model: Path) -> str:
    """The name that the model holds to be of him."""
    network, encoder, labels = load_model(model)
    asked = [Example(("call", name), ("O", "O"), "theirs", Source("asked", 1)) for name in NAMES]
    with torch.no_grad():
        intents = network.answer(collate(encode(asked, encoder, labels))).intents
    return NAMES[int(intents[:, labels.intents.index("his")].argmax())]


def operator_with(folder: Path, the_caller: str, *flags: str) -> Operator:
    operator = Operator(folder)
    operator.run(corpus(the_caller), "--set", "sinks={slu: 1}", *flags)
    (operator.home / "train.yaml").write_text(yaml.safe_dump(TRAIN))
    return operator


def train(operator: Operator) -> tuple[Path | None, str]:
    run = only_run(operator.out("out"))
    done = sottovoce("train", "--data", run, "--config", operator.home / "train.yaml", check=False)
    if done.returncode != 0:
        return None, done.stderr
    handed_on = operator.folder / "model"
    (operator.out("out") / "trained" / run.name / "model").rename(handed_on)
    return handed_on, ""


HALF = ("--set", "replace={use: typed, p: 0.5}")


def test_a_plain_model_tells_the_names_that_were_kept(tmp_path):
    """Four callers, four right answers: luck would do so once in 256 times, and each has a chance of a quarter."""
    right = []
    for name in NAMES:
        target = "sottovoce.pipelines.training.train_model:unbounded_replacement"
        with weakened("the question what the replacement keeps", {target: lambda ledger: None}):
            model, _ = train(operator_with(tmp_path / name, name, *HALF))
        right.append(as_outsider(attack, model) == name)
    assert all(right)


def test_ours_trains_no_such_model(tmp_path):
    model, said = train(operator_with(tmp_path, "bob", *HALF))
    assert model is None and "mode plain protects nothing" in said


def test_texts_that_keep_no_name_may_be_trained_on_and_teach_none(tmp_path):
    model, said = train(operator_with(tmp_path, "bob", "--set", "replace={use: typed, p: 1.0}"))
    assert model is not None, said  # what it answers was never in its texts: the placeholder stands for every name
