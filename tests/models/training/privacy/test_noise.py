"""Noise is normal to the end of its tail, belongs to one training, step, device and purpose, and repeats for these."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from sottovoce.models.randomness import Secret
from sottovoce.models.training.privacy import noise
from sottovoce.models.training.privacy.noise import NoiseSource, tail_radius

KEY = Secret(b"a key of this test")
CPU = torch.device("cpu")


def further_of(seed):
    draw = np.random.default_rng(seed)
    return lambda: int(draw.integers(2**64, dtype=np.uint64))


def drawn_by(source, step=0, part=0):
    return torch.cat([normals.clone() for _, normals in source.draw(step, part)])


def test_the_tail_has_no_end():
    """31 bits ended at 6.66; each further word of zeros, seen once in 2^64 times, goes on."""
    zeros, last = iter([0, 0, 0]), 1 << 63
    assert tail_radius(0, 32, lambda: next(zeros, last)) == pytest.approx(
        math.sqrt(2 * (32 + 3 * 64 + 1) * math.log(2))
    )


@pytest.mark.parametrize("word", [0, 1, 7, 2**15, 2**16 - 1])
def test_further_bits_spread_a_radius_over_its_whole_stretch(word):
    """U given its first 32 bits is uniform between its neighbours: Kolmogorov-Smirnov at 10^-6 on fixed draws."""
    further = further_of(word)
    places = [math.exp(-(tail_radius(word, 32, further) ** 2) / 2) * 2.0**32 - word for _ in range(5000)]
    if word < 2**8:  # beyond, 53 bits of double precision do not hold word and place together
        assert stats.kstest(places, "uniform").pvalue > 1e-6
    assert min(places) > -1e-3 and max(places) < 1 + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("made", ["on a CPU", "on a device"])
def test_exceedances_are_those_of_a_normal(made):
    """|pair|^2 / 2 is exponential: what lies beyond 16 ln 2, where further bits begin, is so again. About 64 of 2^22."""
    size, key = 1 << 23, KEY.digest("tail")
    if made == "on a CPU":
        pairs = [n.clone().view(2, -1) for _, n in noise._stream(size, key, further_of(1), noise.Desk(size))]
    else:
        pairs = [noise._on_device(size, key, further_of(1), CPU).view(2, -1)]
    squares = torch.cat([(pair.double() ** 2).sum(0) for pair in pairs]).numpy() / 2
    beyond = squares[squares > 16 * math.log(2)] - 16 * math.log(2)
    assert 25 < len(beyond) < 115  # Poisson of 64, but for 10^-6
    assert stats.kstest(beyond, "expon").pvalue > 1e-6


def test_a_device_that_is_no_cpu_draws_normals_that_repeat():
    first, again = (noise._on_device(300_001, KEY.digest("x"), further_of(1), CPU) for _ in range(2))
    assert torch.equal(first, again) and len(first) == 300_001 and first.dtype == torch.float32
    assert stats.kstest(first.numpy(), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(first[:150_000], first[150_000:300_000])[0, 1]) < 0.02


def test_draws_of_two_purposes_have_nothing_in_common():
    steps, other = NoiseSource(KEY, 100_000, CPU), NoiseSource(KEY, 100_000, CPU, "noise of alpha")
    assert abs(np.corrcoef(drawn_by(steps), drawn_by(other))[0, 1]) < 0.02
