"""The lower bound of epsilon from one training: what the theorem says, and never above the truth of a known mechanism."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from sottovoce.models.evaluation.attacks.one_run import epsilon_at_least, lower_bound, p_value


def test_without_delta_the_p_value_is_the_tail_of_randomised_response():
    assert p_value(100, 50, 40, 1.0, 0.0) == pytest.approx(binom.sf(39, 50, 1 / (1 + math.exp(-1))))
    assert p_value(100, 50, 0, 1.0, 0.0) == 1.0
    accuracy = 1 / (1 + math.exp(-1))
    slack = max(sum(binom.pmf(40 - j, 50, accuracy) for j in range(1, i + 1)) / i for i in range(1, 41))
    assert p_value(100, 50, 40, 1.0, 1e-4) == pytest.approx(binom.sf(39, 50, accuracy) + 2 * 100 * 1e-4 * slack)


def test_all_guesses_right_show_what_so_many_guesses_can_show():
    # q^r = 0.05 with q = 1 / (1 + e^-eps)
    q = 0.05 ** (1 / 100)
    assert epsilon_at_least(100, 100, 100, 0.0) == pytest.approx(math.log(q / (1 - q)), abs=1e-6)
    assert epsilon_at_least(100, 100, 50, 0.0) == 0.0
    assert epsilon_at_least(100, 100, 100, 1e-3) < epsilon_at_least(100, 100, 100, 0.0)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bound_is_rarely_above_the_epsilon_of_randomised_response_and_not_far_below(epsilon):
    draw, found = np.random.default_rng(1), []
    for _ in range(100):
        included = draw.random(1000) < 0.5
        said = included ^ (draw.random(1000) > 1 / (1 + math.exp(-epsilon)))
        found.append(lower_bound(said + draw.random(1000) * 1e-3, included, 0.0).epsilon)
    assert np.mean(np.array(found) > epsilon) <= 0.08  # 5 % of the time, by chance a little more
    assert np.median(found) > 0.6 * epsilon


def test_a_guesser_without_evidence_shows_nothing():
    draw = np.random.default_rng(0)
    bounds = [lower_bound(draw.normal(size=200), draw.random(200) < 0.5, 1e-5) for _ in range(50)]
    assert np.mean([bound.epsilon > 0 for bound in bounds]) <= 0.1
    assert all(bound.highest > 2 for bound in bounds)
