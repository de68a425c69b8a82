"""A training with canaries: found where nothing protects them, not where noise does, and a training whose noise is missing is
told by its own claim. Whether a canary is in changes nothing but the batches it was drawn for."""

import dataclasses
import json

import numpy as np
import pytest

from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.membership import MembersOfTraining
from sottovoce.models.evaluation.audit.trained_canaries import CanariesInTraining
from sottovoce.models.evaluation.audit.trials import NotMeasurable, figures
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source
from sottovoce.models.training.loop.prepare import prepare
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.audit import measuring_training

MODEL = {"use": "clc", "hidden": 16, "layers": 1, "word_size": 16, "buckets": 1000, "filters": 4}
KEY = Secret(bytes(range(32)))


def prepared_rows(tmp_path, count, **settings):
    texts = [("play", "jazz"), ("play", "rock"), ("book", "table"), ("book", "room")]
    rows = [
        {"tokens": [verb, thing, f"now{n % 5}"], "tags": ["O", "B-what", "O"], "intent": verb}
        for n, (verb, thing) in enumerate(texts * (count // 4))
    ]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    common = {"batch_size": 40, "learning_rate": 2e-2, "unit": "example", "device": "cpu", "validation_share": 0.0}
    return prepare(str(data), TrainSettings(model=MODEL, **common, **settings), KEY)


def measured(tmp_path, monkeypatch, **settings):
    monkeypatch.setattr(measuring_training, "NEVER", 100)
    prepared = prepared_rows(tmp_path, 60, epochs=20, **settings)
    found = measuring_training.trained_canaries(prepared, prepared.settings, KEY, 160)
    (outcome,) = CanariesInTraining().outcomes(Material((), training=found)).values()
    return outcome


def told(tmp_path, **settings):
    """Rows of whom nobody has the intent of the others: what is learnt of one is learnt of no other."""
    prepared = prepared_rows(tmp_path, 400, epochs=12, **settings)
    draw = np.random.default_rng(0)
    task = task_of("slu")
    prepared = dataclasses.replace(prepared, train=[task.canary(prepared.train, draw) for _ in prepared.train])
    found = measuring_training.membership(prepared, prepared.settings, KEY, 4)
    assert found.seen.sum(0).tolist() == [2] * 400 and found.member.sum() == 200
    (outcome,) = MembersOfTraining().outcomes(Material((), membership=found)).values()
    return figures(outcome)


@pytest.mark.slow
def test_members_are_told_at_few_false_alarms_where_nothing_protects_them_and_not_where_noise_does(tmp_path):
    plain = told(tmp_path, mode="plain")
    assert (
        plain.risk.low > 0.1 and plain.control.value <= 0.01 and plain.more["AUC"] > 0.8
    )  # above all that noise leaves
    private = told(tmp_path, mode="per_example", target_epsilon=0.5)
    assert private.risk.high < 0.1 and 0.4 < private.more["AUC"] < 0.6


@pytest.mark.slow
def test_canaries_are_found_in_a_model_that_nothing_protects(tmp_path, monkeypatch):
    found = measured(tmp_path, monkeypatch, mode="plain")
    assert figures(found).risk.low > 0.3 and found.more["epsilon, measured, at least"] > 0.8 and not found.refuted
    assert found.more["mean exposure of those trained on"] > found.more["mean exposure of those left out"] + 1.5
    assert "epsilon, proved" not in found.more


@pytest.mark.slow
def test_noise_hides_them_and_noise_that_is_missing_is_told(tmp_path, monkeypatch):
    private = {"mode": "per_example", "target_epsilon": 0.5}
    found = measured(tmp_path, monkeypatch, **private)
    assert figures(found).risk.high < 0.5 and not found.refuted
    assert found.more["epsilon, measured, at least"] <= 0.5 and found.more["epsilon, proved"] == pytest.approx(
        0.5, abs=0.01
    )
    monkeypatch.setattr("sottovoce.models.training.privacy.edp.device_noise", lambda *_: 0.0)
    broken = measured(tmp_path, monkeypatch, clip=10.0, **private)
    assert broken.refuted and broken.refuted.endswith("is claimed")


def test_who_is_left_out_is_left_out_of_batches_and_moves_nobody_else():
    whole = Sampler(KEY, "poisson", 50, 10, 4)
    without = measuring_training._Without(whole, np.array([3, 7]))
    for step in range(20):
        for all_units, kept in zip(whole.draw(step), without.draw(step), strict=True):
            assert kept.tolist() == [unit for unit in all_units if unit not in (3, 7)]


@pytest.mark.parametrize("name", ["lm", "slu", "dm", "rewriter"])
def test_a_canary_of_a_task_is_an_example_of_it(name):
    task = task_of(name)
    turns = [
        {"text": "play jazz now", "intent": "play", "slots": []},
        {"text": "book a table", "intent": "book", "slots": []},
    ]
    row = {"turns": turns} if name == "dm" else {"tokens": ["play", "jazz"], "tags": ["O", "B-what"], "intent": "play"}
    other = {"turns": turns[::-1]} if name == "dm" else {"tokens": ["book", "it"], "tags": ["O", "O"], "intent": "book"}
    examples = task.read((Source("f", number), one) for number, one in enumerate([row, other] * 4)).examples
    draw = np.random.default_rng(0)
    canaries = [task.canary(examples, draw) for _ in range(5)]
    assert all(type(canary) is type(examples[0]) for canary in canaries)
    assert name != "slu" or len({canary.content for canary in canaries}) == 5
    settings = TrainSettings(task=name, mode="plain")
    assert all(task.fits(canary, task.schema(examples, settings)) for canary in canaries)


def test_what_cannot_be_measured_says_what_it_needs(tmp_path):
    config = tmp_path / "train.yaml"

    def needs(settings: str, run: str) -> str:
        config.write_text(settings)
        canaries, members = measuring_training.measuring_trainings(run, "", str(config), AuditSettings())
        assert canaries == members and isinstance(canaries, NotMeasurable)
        return canaries.needs

    counts = "{task: lm, model: counts, z0: 1.0, mode: per_example}"
    assert "on this machine" in needs(counts, "gs://b/r") and "n-grams" in needs(counts, str(tmp_path))
    assert "alpha" in needs("{mode: sound, z0: 1.0, alpha: noisy_release, alpha_z: 1.0}", str(tmp_path))
