"""No unit adds more than the clipping norm, whatever its activations and slopes are: searched for, not sampled.

The search looks where single precision is weakest: terms that cancel, numbers near the ends of their range, one place
that outweighs the others; it then climbs from the worst that it found. The rule that rounds to nearest is searched first.
"""

import math

import numpy as np
import pytest
import torch

from sottovoce.models.training.privacy.flat import FlatGradients
from sottovoce.models.training.privacy.ghost import clipping_weights
from sottovoce.models.training.privacy.ghost_factors import Direct, Lookup, Outer, Taps

CLIP = 1.0


def added(factor, shape):
    """The length of what one unit adds after clipping, measured in double precision."""
    total = torch.zeros(shape)
    weights = clipping_weights(factor.square_norms().double().sqrt(), CLIP)
    factor.add_weighted(weights.float(), total)
    return float(torch.linalg.vector_norm(total, dtype=torch.float64))


def cancelling(draw, places, inputs, outputs):
    """Pairs of places whose products all but cancel, at any scale; some with a place of their own."""
    scale_a, scale_b = 10.0 ** draw.uniform(-19, 19), 10.0 ** draw.uniform(-19, 19)
    if draw.random() < 0.7:
        scale_b = 10.0 ** draw.uniform(-2, 9) / scale_a
    half = places // 2
    a, b = draw.normal(size=(half, inputs)), draw.normal(size=(half, outputs))
    a *= 10.0 ** (draw.uniform(0, 3) * draw.normal(size=(half, 1)))
    off_a, off_b = 10.0 ** draw.uniform(-8, -1, size=2)
    a = np.concatenate([a, a * (1 + off_a * draw.normal(size=a.shape))])
    b = np.concatenate([b, -b * (1 + off_b * draw.normal(size=b.shape))])
    with np.errstate(over="ignore"):
        return (np.float32(scale_a * a), np.float32(scale_b * b))


def outer(a, b):
    return Outer(torch.from_numpy(a)[None], torch.from_numpy(b)[None]), (b.shape[1], a.shape[1])


def search(shape, tries=400, climbs=300, seed=1):
    """The longest that was found, in units of the clipping norm."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(tries):
        a, b = cancelling(draw, *shape)
        length = added(*outer(a, b))
        if math.isfinite(length):  # what is not finite stops a training before it is used
            found.append((length, a, b))
    best, a, b = max(found, key=lambda item: item[0])
    for _ in range(climbs):
        step = 10.0 ** draw.uniform(-7, 0)
        near_a = np.float32(a * (1 + step * draw.normal(size=a.shape)))
        near_b = np.float32(b * (1 + step * draw.normal(size=b.shape)))
        length = added(*outer(near_a, near_b))
        if math.isfinite(length) and length > best:
            best, a, b = length, near_a, near_b
    return best


SHAPES = {"by the Gram trick": (8, 40, 30), "multiplied out": (64, 5, 4)}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_no_unit_is_found_that_adds_more_than_the_clipping_norm(shape):
    assert 0.99 < search(shape) <= CLIP


def test_the_search_finds_such_units_where_norms_are_rounded_to_nearest(monkeypatch):
    def to_nearest(self):
        return torch.bmm(self.a, self.a.mT).mul_(torch.bmm(self.b, self.b.mT)).sum((1, 2)).clamp_min_(0)

    monkeypatch.setattr(Outer, "square_norms", to_nearest)
    assert search(SHAPES["by the Gram trick"]) > 4 * CLIP


@pytest.mark.parametrize("rows", [2, 1000], ids=["as a table", "by the Gram trick"])
def test_rows_of_a_table_that_cancel_are_bounded_too(rows):
    draw, worst = np.random.default_rng(2), 0.0
    for _ in range(400):
        _, b = cancelling(draw, 16, 3, 10)
        ids = draw.integers(2, size=(1, 16))
        length = added(Lookup(torch.from_numpy(ids), torch.from_numpy(b)[None], rows), (rows, 10))
        worst = max(worst, length if math.isfinite(length) else 0.0)
    assert 0.99 < worst <= CLIP


@pytest.mark.parametrize("sources", [6, 2], ids=["a word", "a bag of three words"])
def test_sums_on_a_cpu_are_those_of_other_devices_and_padding_is_nobodys(sources):
    torch.manual_seed(3)
    found = Lookup(torch.randint(5, (4, 6)), torch.randn(4, sources, 3), 5, padding=0)
    whose, ids, sums, squares = found.sorted_sums()
    weights = torch.rand(4)
    want = torch.zeros(5, 3).index_add_(0, ids, sums * weights[whose].unsqueeze(1))
    total = torch.zeros(5, 3)
    found.add_weighted(weights, total)
    torch.testing.assert_close(total, want)
    assert not total[0].any()
    torch.testing.assert_close(found.square_norms(), squares, rtol=1e-5, atol=0)
    joined = Lookup(found.ids[:, :3], found.b[:, : sources // 2], 5, 0).joined(
        Lookup(found.ids[:, 3:], found.b[:, sources // 2 :], 5, 0)
    )
    torch.testing.assert_close(joined.square_norms(), found.square_norms())


def test_one_great_number_among_many_small_ones_does_not_hide_them():
    """In single precision a million squares of 1e-4 vanish beside a 1."""
    gradients = torch.full((1, 1_000_001), 1.5e-4)
    gradients[0, 0] = 1.0
    assert 0.999 < added(Direct(gradients), (1_000_001,)) <= CLIP


def test_the_bound_is_close_where_nothing_cancels():
    torch.manual_seed(0)
    for places, inputs, outputs in ((16, 384, 1536), (256, 75, 50)):
        factor = Outer(torch.randn(4, places, inputs), torch.randn(4, places, outputs))
        exact = torch.bmm(factor.b.double().mT, factor.a.double()).square().sum((1, 2))
        excess = factor.square_norms() / exact - 1
        assert (excess > 0).all() and (excess < 5e-3).all()


def test_what_is_not_finite_is_never_added_at_full_length():
    great = torch.full((1, 4, 40), 3e38)
    factor = Outer(great, great[:, :, :30])
    assert float(clipping_weights(factor.square_norms().sqrt(), CLIP)) == 0.0


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e15])
def test_a_micro_batch_is_clipped_to_no_more_than_the_clipping_norm(scale):
    """One great number, then millions that vanish beside it: the sum of squares in single precision is 0.7 % short."""
    network = torch.nn.Linear(2000, 1000, bias=False)
    flat = FlatGradients(network)
    flat.let_go()
    network.weight.grad = torch.full_like(network.weight, 1.7e-4 * scale)
    network.weight.grad[0, 0] = scale
    flat.clip(CLIP, None)
    length = float(torch.linalg.vector_norm(flat.vector, dtype=torch.float64))
    assert length <= CLIP and (scale < 1 or length > 0.999 * CLIP)


@pytest.mark.parametrize("scale", [1e-18, 1.0, 1e15])
def test_kernels_that_are_multiplied_out_are_no_longer_than_their_bound(scale):
    torch.manual_seed(0)
    for size in (8, 64):  # the longer ones are measured by blocks
        factor = Taps(scale * torch.randn(3, 1, size, size))
        exact = float(torch.linalg.vector_norm(factor.gradients, dtype=torch.float64))
        assert exact * (1 - 1e-12) <= float(factor.square_norms().sqrt()) <= exact * 1.01
        assert added(factor, (size, size, 3)) <= CLIP
