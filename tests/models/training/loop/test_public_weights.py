"""A training may begin with a public model: with all of it, and never with one that was made of people in a run."""

import json

import pytest
import torch
from safetensors.torch import save_file

from sottovoce.models.errors import RunError
from sottovoce.models.training.loop.export import begin_from, load_trained
from sottovoce.models.training.networks.conv import ConvModel

OPTIONS = {"depth": 1, "width": 4}


def exported(folder, run=None):
    network = ConvModel(**OPTIONS).network(None)
    save_file(network.state_dict(), folder / "weights.safetensors")
    described = {"use": "conv", **OPTIONS, "task": "am", "labels": {}, "origin": {"run": run, "commit": None}}
    (folder / "model.json").write_text(json.dumps(described))
    return network


def test_training_begins_with_all_weights_of_a_public_model(tmp_path):
    public, own = exported(tmp_path), ConvModel(**OPTIONS).network(None)
    begin_from(own, str(tmp_path), "am")
    assert all(torch.equal(a, b) for a, b in zip(public.parameters(), own.parameters(), strict=True))


@pytest.mark.parametrize("content", [None, b"", b"no weights"])
def test_weights_that_are_missing_or_broken_are_told_by_their_file(tmp_path, content):
    exported(tmp_path)
    (tmp_path / "weights.safetensors").unlink()
    if content is not None:
        (tmp_path / "weights.safetensors").write_bytes(content)
    with pytest.raises(RunError, match=r"weights\.safetensors: missing, broken"):
        load_trained(tmp_path)


@pytest.mark.parametrize(
    ("run", "task", "options", "words"),
    [
        ("night-1", "am", OPTIONS, "trained on run night-1, whose people are not public"),
        (None, "lm", OPTIONS, "not a network of task lm"),
        (None, "am", {"depth": 2, "width": 4}, "layers.1.bias is of shape None"),
        (None, "am", {"depth": 1, "width": 6}, "first.bias is of shape (4,), here of (6,)"),
    ],
)
def test_what_does_not_fit_or_is_not_public_is_refused(tmp_path, run, task, options, words):
    exported(tmp_path, run)
    with pytest.raises(RunError) as refused:
        begin_from(ConvModel(**options).network(None), str(tmp_path), task)
    assert words in str(refused.value)
