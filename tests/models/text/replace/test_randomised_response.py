"""The formulas of randomised response: golden values, enumeration, and a second accountant."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.text.replace.randomised_response import (
    Composition,
    delta_at,
    epsilon_of,
    mixed_minimum,
    p_for,
    random_miss_epsilon,
    token_dependent_p,
    zipf,
)

GOLDEN = Path(__file__).parents[4] / "../shared/golden"
TOLERANCE = 1e-6


def golden(name):
    path = GOLDEN / name
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{name} is not on this machine"))]
    with open(path) as file:
        return list(csv.DictReader(file))


def same(value, text):
    return value == pytest.approx(float(text), abs=TOLERANCE)


@pytest.mark.parametrize("row", golden("rr_token.csv"))
def test_golden_token(row):
    p, pi_min = float(row["p"]), float(row["pi_min"])
    assert same(epsilon_of(p, pi_min), row["eps_token"])
    for epsilon in (0, 1, 4):
        assert same(delta_at(epsilon, p, pi_min), row[f"delta_at_eps{epsilon}"])


@pytest.mark.parametrize("row", golden("rr_composition.csv"))
def test_golden_composition(row):
    """The golden accountant rounds losses up to multiples of 1e-3; without a grid the figure is exact and smaller."""
    p, pi_min, units = float(row["p"]), float(row["pi_min"]), int(row["k"])
    rounded, exact = Composition(p, pi_min, units, grid=1e-3), Composition(p, pi_min, units)
    assert same(rounded.epsilon_pure, row["eps_pure"]) and same(epsilon_of(p, pi_min), row["eps_token"])
    for delta, column in ((1e-5, "eps_pld_d1e5"), (1e-3, "eps_pld_d1e3")):
        assert same(rounded.epsilon(delta), row[column])
        assert exact.epsilon(delta) <= float(row[column])


@pytest.mark.parametrize("row", golden("rr_mixing.csv"))
def test_golden_mixing(row):
    p, share, size = float(row["p"]), float(row["mix_lambda"]), int(row["vocab_k"])
    pi_min = mixed_minimum(0.0, share, size)
    assert same(pi_min, row["pi_min"]) and same(epsilon_of(p, pi_min), row["eps_token"])
    assert same(p_for(4, pi_min), row["p_needed_eps4"]) and same(p_for(1, pi_min), row["p_needed_eps1"])


@pytest.mark.parametrize("row", golden("rr_recall.csv"))
def test_golden_recall(row):
    p, recall, pi_min = float(row["p"]), float(row["recall"]), float(row["pi_min"])
    assert same(random_miss_epsilon(p, pi_min, recall), row["eps_random_miss"])
    assert same(1 - recall * p, row["expected_fraction_in_clear"])
    assert same(delta_at(0, recall * p, pi_min), row["delta_eps0"])


@pytest.mark.parametrize("row", golden("rr_token_dependent_p.csv"))
def test_golden_token_dependent_p(row):
    pi, epsilon = zipf(int(row["zipf_K"])), float(row["eps"])
    found = token_dependent_p(epsilon, pi)
    assert same(p_for(epsilon, pi.min()), row["uniform_p"]) and same(1 - p_for(epsilon, pi.min()), row["uniform_keep"])
    assert same(found.p_min, row["token_p_min"]) and same(found.p.max(), row["token_p_max"])
    assert same(found.kept, row["token_mean_keep"])


def enumerated(matrix):
    """(epsilon, delta at 0) of a mechanism given as rows of output probabilities, over all pairs of inputs."""
    epsilon, delta = 0.0, 0.0
    for a in matrix:
        for b in matrix:
            delta = max(delta, float(np.maximum(a - b, 0).sum()))
            for x, y in zip(a, b, strict=True):
                if x > 0:
                    epsilon = max(epsilon, math.log(x / y) if y > 0 else math.inf)
    return epsilon, delta


@pytest.mark.parametrize("row", golden("rr_variants.csv"))
def test_golden_variants_by_enumeration(row):
    p, pi = float(row["p"]), np.array([0.5, 0.3, 0.15, 0.05])
    keep = (1 - p) * np.eye(4)
    word = keep + p * pi
    marker = np.hstack([keep, np.full((4, 1), p)])
    other = np.array([np.where(np.arange(4) == i, 0, pi) / (1 - pi[i]) for i in range(4)])
    with_outsider = np.hstack([np.vstack([word, p * pi]), np.array([[0, 0, 0, 0, 1 - p]]).T])
    always_replaced = np.vstack([word, pi])
    assert same(enumerated(word)[0], row["word_eps"]) and same(enumerated(word)[1], row["word_delta0"])
    for name in ("redact", "named"):
        assert same(enumerated(marker)[0], row[f"{name}_eps"]) and same(enumerated(marker)[1], row[f"{name}_delta0"])
    assert same(enumerated(keep + p * other)[0], row["exclude_self_eps"])
    assert same(enumerated(with_outsider)[0], row["oov_kept_eps"])
    assert same(enumerated(always_replaced)[0], row["oov_always_replaced_eps"])
    assert same(enumerated(_consistent_per_occurrence(p, pi))[0], row["consistent_per_occurrence_eps"])
    assert same(epsilon_of(p, pi.min()), row["consistent_rename_everywhere_eps"])


def _consistent_per_occurrence(p, pi):
    """Two occurrences under one coin and draw per value: rows are the inputs (0, 0) and (0, 1), columns the output pairs."""
    rows = []
    for first, second in ((0, 0), (0, 1)):
        table = np.zeros((4, 4))
        one = (1 - p) * np.eye(4)[first] + p * pi
        two = (1 - p) * np.eye(4)[second] + p * pi
        table[:] = np.diag(one) if first == second else np.outer(one, two)
        rows.append(table.ravel())
    return np.array(rows)


PI = st.lists(st.floats(0.01, 1), min_size=2, max_size=8).map(lambda w: np.array(w) / sum(w))


@given(st.floats(0.05, 0.99), PI)
def test_the_lemma_is_what_enumeration_finds(p, pi):
    assert enumerated((1 - p) * np.eye(len(pi)) + p * pi)[0] == pytest.approx(epsilon_of(p, pi.min()), rel=1e-9)


@settings(max_examples=25)
@given(st.floats(0.1, 5), PI)
def test_token_dependent_p_stays_within_epsilon_also_against_outsiders(epsilon, pi):
    p = token_dependent_p(epsilon, pi).p
    matrix = np.vstack([np.diag(1 - p) + np.outer(p, pi), pi])
    assert enumerated(matrix)[0] <= epsilon + 1e-9


@given(st.floats(0.01, 12), st.floats(1e-6, 0.5))
def test_p_for_inverts_epsilon_of(epsilon, pi_min):
    assert epsilon_of(p_for(epsilon, pi_min), pi_min) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.slow
def test_a_second_accountant_agrees():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    p, pi_min, units = 0.99, 0.001, 15
    upper = {0: math.log(1 - p + p * pi_min), 1: math.log(p * pi_min), 2: math.log(p * (1 - 2 * pi_min))}
    lower = {0: upper[1], 1: upper[0], 2: upper[2]}
    one = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=1e-3)
    expected = one.self_compose(units).get_epsilon_for_delta(1e-6)
    assert Composition(p, pi_min, units, grid=1e-3).epsilon(1e-6) == pytest.approx(expected, abs=1e-6)


def test_edges():
    assert epsilon_of(1.0, 0.1) == 0 and epsilon_of(0.0, 0.1) == math.inf and epsilon_of(0.5, 0.0) == math.inf
    assert Composition(1.0, 0.1, 5).epsilon(1e-9) == 0
    assert Composition(0.9, 1e-4, 200).epsilon(1e-5) < Composition(0.9, 1e-4, 200).epsilon_pure
