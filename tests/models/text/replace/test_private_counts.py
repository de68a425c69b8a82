"""Counting values under differential privacy: golden values, bounds and what is withheld."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from sottovoce.models.ledger.gaussian import gaussian_sigma
from sottovoce.models.randomness import Secret
from sottovoce.models.text.replace.private_counts import (
    CountSettings,
    gather,
    gaussian_threshold,
    laplace_scale,
    laplace_threshold,
    noisy_count,
    smallest,
)

GOLDEN = Path(__file__).parents[4] / "../shared/golden/rr_dp_pi.csv"
SECRET = Secret(b"k" * 32)
LAPLACE = CountSettings(epsilon=1.0, delta=1e-6, noise="laplace", values_per_speaker=10)
GAUSSIAN = CountSettings(epsilon=1.0, delta=1e-6, noise="gaussian", values_per_speaker=10)


def test_golden_scales_and_thresholds():
    if not GOLDEN.exists():
        pytest.skip("rr_dp_pi.csv is not on this machine")
    with open(GOLDEN) as file:
        for row in csv.DictReader(file):
            epsilon, delta, values = (
                float(row["eps_pi"]),
                float(row["delta_pi"]),
                int(row["max_distinct_tokens_per_user"]),
            )
            sigma = gaussian_sigma(epsilon, delta / 2, math.sqrt(values))
            found = {
                "laplace_scale": laplace_scale(epsilon, values),
                "laplace_threshold": laplace_threshold(epsilon, delta, values),
                "gauss_sigma": sigma,
                "gauss_threshold": gaussian_threshold(delta / 2, values, sigma),
                "laplace_scale_public_vocab_addremove": laplace_scale(epsilon, values),
                "laplace_scale_public_vocab_replace": laplace_scale(epsilon, values, replace_one=True),
            }
            for column, value in found.items():
                assert value == pytest.approx(float(row[column]), abs=1e-6), column


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), [(0.1, 1e-8, 1.0), (1.0, 1e-5, 3.0), (16.0, 1e-5, 2.0)])
def test_sigma_meets_its_condition_exactly(epsilon, delta, sensitivity):
    sigma = gaussian_sigma(epsilon, delta, sensitivity)
    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    assert norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("settings", [LAPLACE, GAUSSIAN])
def test_what_one_speaker_alone_brought_is_withheld(settings):
    """Each of 5,000 counts of 1 passes with probability at most 1e-7: one key in 2,000 would fail; ours is fixed."""
    assert all(noisy_count(("PER", str(i)), 1, settings, SECRET, "run") is None for i in range(5_000))


@pytest.mark.parametrize("settings", [LAPLACE, GAUSSIAN])
def test_frequent_values_are_released_with_noise_around_the_count(settings):
    """Mean of 4000 noises: five standard errors; the key is fixed."""
    weights = np.array([noisy_count(("PER", str(i)), 1000, settings, SECRET, "run") for i in range(4000)])
    scale = math.sqrt(2) * 10 if settings is LAPLACE else gaussian_sigma(1.0, 5e-7, math.sqrt(10))
    assert abs(weights.mean() - 1000) < 5 * scale / math.sqrt(4000)
    assert weights.std() == pytest.approx(scale, rel=0.1)
    assert np.all(weights == np.round(weights))


def test_noise_repeats_on_a_retry_and_is_fresh_for_another_run():
    draws = [
        [noisy_count(("PER", str(i)), 500, LAPLACE, SECRET, run) for i in range(20)] for run in ("one", "one", "two")
    ]
    assert draws[0] == draws[1] != draws[2]


def test_a_public_vocabulary_releases_every_listed_value():
    settings = CountSettings(epsilon=1.0, delta=1e-6, noise="laplace", values_per_speaker=1, vocabulary="list")
    assert all(noisy_count(("PER", str(i)), 0, settings, SECRET, "run") >= 1 for i in range(1000))


def test_the_choice_among_too_many_values_is_bounded_and_ignores_the_order():
    items = [(SECRET.digest("choice", i), "PER", str(i)) for i in range(100)]
    assert smallest(items, 7) == smallest(reversed(items * 3), 7) and len(smallest(items, 7)) == 7


def test_raw_counts_have_no_noise():
    settings = CountSettings(epsilon=None, delta=1e-6, noise="laplace", values_per_speaker=1)
    assert gather([(("PER", "anna"), noisy_count(("PER", "anna"), 3, settings, SECRET, "run"))]) == {
        "PER": {"anna": 3.0}
    }
