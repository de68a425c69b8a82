"""One backward pass gives what a backward pass per example gives."""

import math

import pytest
import torch
from tiny_training import tiny
from torch import nn

from sottovoce.models.errors import SettingsError
from sottovoce.models.training.batches import collate
from sottovoce.models.training.privacy import ghost_factors
from sottovoce.models.training.privacy.ghost import clip_per_unit

pytestmark = pytest.mark.slow


def gradients_one_by_one(network, rows, rows_per_unit):
    """Per-unit gradients from torch.func, each unit alone."""
    parameters = {name: p.detach() for name, p in network.named_parameters()}

    def loss(values, batch):
        return torch.func.functional_call(network, values, (batch,)).sum()

    for begin in range(0, len(rows), rows_per_unit):
        yield torch.func.grad(loss)(parameters, collate(rows[begin : begin + rows_per_unit]))


@pytest.fixture(params=["padded", "packed"])
def places(request, monkeypatch):
    """Networks of real size leave out the places at which nothing counts; tiny ones are made to."""
    monkeypatch.setattr(ghost_factors, "SMALL", 0 if request.param == "packed" else math.inf)
    monkeypatch.setattr(ghost_factors, "WORTH_PACKING", 0.99)


@pytest.mark.parametrize("rows_per_unit", [1, 3])
@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["clc", "bert"])
def test_clipped_sum_and_norms_equal_those_of_separate_gradients(name, precision, rows_per_unit, places):
    torch.manual_seed(1)
    network, rows, _ = tiny(name)
    network.to(precision)
    batch = collate(rows, [1.0] * len(rows))
    batch.weights = batch.weights.to(precision)
    clip = 3.0
    losses, norms = clip_per_unit(network, batch, clip, rows_per_unit)
    units = list(gradients_one_by_one(network, rows, rows_per_unit))
    want_norms = torch.stack([torch.stack([g.square().sum() for g in unit.values()]).sum().sqrt() for unit in units])
    room = 1e-3 if precision == torch.float32 else 1e-9  # norms are rounded up, never down
    assert (norms >= want_norms * (1 - 1e-6)).all() and (norms <= want_norms * (1 + room)).all()
    assert (norms > clip).any() and losses.shape == (len(rows),)
    for parameter_name, parameter in network.named_parameters():
        weights = (clip / want_norms).clamp_max(1.0)
        want = sum(w * unit[parameter_name] for w, unit in zip(weights, units, strict=True))
        assert (parameter.grad - want).norm() / len(rows) < room * clip + 1e-6, (
            parameter_name
        )  # of the mean, as it is used
        assert parameter.requires_grad


@pytest.mark.parametrize("name", ["clc", "bert"])
def test_no_unit_moves_the_sum_by_more_than_the_clipping_norm(name, places):
    torch.manual_seed(2)
    network, rows, _ = tiny(name)

    def total(weights):
        network.zero_grad()
        clip_per_unit(network, collate(rows, weights), 0.5)
        return torch.cat([p.grad.flatten() for p in network.parameters()])

    moved = total([1.0] * 12) - total([0.0] + [1.0] * 11)
    assert moved.norm() <= 0.5 + 1e-6


def test_scaling_by_layer_is_clipped_in_the_scaled_norm():
    torch.manual_seed(2)
    network, rows, _ = tiny("clc", 1)
    scale = {name: 0.1 * (1 + number % 3) for number, (name, _) in enumerate(network.named_parameters())}
    clip_per_unit(network, collate(rows), 0.01, scale=scale)
    scaled = [(p.grad / scale[name]).square().sum() for name, p in network.named_parameters()]
    assert torch.stack(scaled).sum().sqrt().item() == pytest.approx(0.01, rel=1e-4)


def test_mixed_precision_keeps_the_bound():
    network, rows, _ = tiny("bert")
    with torch.autocast("cpu", torch.bfloat16):
        _, norms = clip_per_unit(network, collate(rows, [1.0] + [0.0] * 11), 0.5)
    assert norms[0] > 0.5
    assert torch.cat([p.grad.flatten() for p in network.parameters()]).norm() <= 0.5 + 1e-5


def test_layers_without_a_rule_and_shared_parameters_are_refused():
    network, rows, _ = tiny("clc")
    network.reader.extra = nn.BatchNorm1d(2)  # its statistics would mix rows
    with pytest.raises(SettingsError, match="BatchNorm1d"):
        clip_per_unit(network, collate(rows), 1.0)
    network, rows, _ = tiny("clc")
    network.reader.twin = nn.Linear(4, 4)
    network.reader.twin.weight = network.reader.convolve.weight
    with pytest.raises(SettingsError, match="share"):
        clip_per_unit(network, collate(rows), 1.0)


def test_places_at_which_nothing_counts_are_left_out_exactly(monkeypatch):
    monkeypatch.setattr(ghost_factors, "SMALL", 0)
    torch.manual_seed(3)
    a, b = torch.randn(4, 9, 5), torch.randn(4, 9, 6)
    counts = torch.tensor([[place < 3 + unit or place == 7 for place in range(9)] for unit in range(4)])
    b[~counts] = 0.0
    b[0, 1, : ghost_factors.GLANCE] = 0.0  # a glance finds nothing here, and the whole row nothing either
    assert packed_places(a, b) == 7
    b[:, 8] = torch.cat([torch.zeros(5), torch.ones(1)])
    assert packed_places(a, b) == 8


def packed_places(a, b):
    """How many places are left; their products add up to those of all."""
    fewer = ghost_factors.packed(a, b)
    torch.testing.assert_close(torch.bmm(fewer[1].mT, fewer[0]), torch.bmm(b.mT, a), rtol=1e-6, atol=1e-6)
    return fewer[0].shape[1]
