"""The figures of private training: golden values, and refusals of combinations that no theorem covers."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.training.privacy.accounting import edp_epsilon, find_z0
from sottovoce.models.training.privacy.composition import epsilon_on_grid, gdp_epsilon
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.privacy.soundness import PrivacyTerms
from sottovoce.models.training.train_settings import TrainSettings

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[4] / "../shared/golden"
SHUFFLED = {"adjacency": "replace_one", "sampling": "shuffle", "accountant": "gdp"}
SAMPLED = {"adjacency": "add_remove", "sampling": "poisson", "accountant": "pld"}
PLAN = {"decay": "linear", "tau": 0.1, "epochs": 10, "n": 4480, "batch_size": 64, "n_micro": 8,
        "microbatch_size": 8, "delta": 5e-4, "noise": "sound"}  # fmt: skip


def epsilon_of(z0, steps=None, **terms):
    return edp_epsilon(PrivacyTerms(**terms), z0, steps)


def rows(name):
    if not GOLDEN.exists():
        pytest.skip("golden values are not on this machine")
    with open(GOLDEN / name) as lines:
        return list(csv.DictReader(lines))


def plan_of(row):
    return {"decay": row["decay"], "tau": float(row["tau"]), "epochs": int(row["epochs"]),
            "n": int(row["n"]), "batch_size": int(row["B"]), "n_micro": int(row["N"]),
            "microbatch_size": int(row["microbatch"]), "delta": float(row["delta"])}  # fmt: skip


def test_every_golden_row_of_the_published_formula_and_of_shuffling_is_met():
    for row in rows("edp_sgd.csv"):
        z0, published = float(row["z0"]), PrivacyTerms(**plan_of(row), **SHUFFLED, noise="paper_independent")
        paper = edp_epsilon(replace(published, accountant="paper_zcdp"), z0)
        literal = edp_epsilon(published, z0)
        fixed = edp_epsilon(replace(published, noise="sound"), z0)
        assert paper.rho == pytest.approx(float(row["rho_paper"]), rel=1e-6)
        assert paper.epsilon == pytest.approx(float(row["eps_paper_zcdp"]), rel=1e-6)
        assert not paper.sound
        assert literal.z_eff[0] == pytest.approx(float(row["z_eff0_literal_replace"]), rel=1e-6)
        assert literal.mu == pytest.approx(float(row["mu_literal_shuffle"]), rel=1e-6)
        assert literal.epsilon == pytest.approx(float(row["eps_literal_shuffle_gdp"]), rel=1e-6)
        assert fixed.mu == pytest.approx(float(row["mu_fixed_shuffle"]), rel=1e-6)
        assert fixed.epsilon == pytest.approx(float(row["eps_fixed_shuffle_gdp"]), rel=1e-6)
        assert literal.sound and fixed.sound


@pytest.mark.slow
@pytest.mark.long
def test_every_golden_row_of_poisson_sampling_is_met():
    for row in rows("edp_sgd.csv"):
        z0, terms = float(row["z0"]), PrivacyTerms(**plan_of(row), **SAMPLED, noise="sound")
        fixed = edp_epsilon(terms, z0)
        assert fixed.epsilon == pytest.approx(float(row["eps_fixed_poisson_pld"]), rel=1e-3)
        if row["eps_literal_poisson_pld"]:
            literal = edp_epsilon(replace(terms, noise="paper_independent"), z0)
            assert literal.z_eff[0] == pytest.approx(float(row["z_eff0_literal_addrem"]), rel=1e-6)
            assert literal.epsilon == pytest.approx(float(row["eps_literal_poisson_pld"]), rel=1e-3)


@pytest.mark.long
def test_shuffling_is_never_below_its_proven_lower_bound():
    for row in rows("shuffle_vs_poisson.csv"):
        steps, z, delta = int(row["T"]), float(row["z"]), float(row["delta"])
        upper = gdp_epsilon(1 / z, delta)
        assert upper == pytest.approx(float(row["eps_shuffle_upper_gdp"]), rel=1e-6)
        assert upper >= float(row["eps_shuffle_lower"])
        sampled = epsilon_on_grid({z: steps}, 1 / steps, delta, width=1e-3)  # the grid that file was made on
        assert sampled == pytest.approx(float(row["eps_poisson_pld"]), rel=1e-3)


def test_sensitivity_factor_covers_what_was_measured():
    for row in rows("edp_sensitivity.csv"):
        assert max(float(row["replace_one"]), float(row["remove_one_indep"])) <= float(row["replace_bound"]) + 1e-5


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({**SHUFFLED, "accountant": "pld"}, "shuffling does not have"),
        ({**SAMPLED, "accountant": "gdp"}, "use pld"),
        ({**SAMPLED, "accountant": "paper_zcdp"}, "use pld"),
        ({**SHUFFLED, "adjacency": "add_remove"}, "replace_one or zero_out"),
        ({**SAMPLED, "adjacency": "replace_one"}, "add_remove or zero_out"),
        ({**SHUFFLED, "alpha_source": "private_batch"}, "no epsilon covers"),
        ({**SHUFFLED, "alpha_source": "noisy_release"}, "must be charged"),
        ({**SHUFFLED, "z0": 0.0}, "z0"),
        ({**SHUFFLED, "batch_size": 5000}, "batch_size"),
        ({**SHUFFLED, "delta": 1.0}, "delta"),
    ],
)
def test_unsound_or_meaningless_combinations_are_refused_with_the_reason(changes, word):
    with pytest.raises(SettingsError, match=word):
        epsilon_of(**{"z0": 1.0, **PLAN, **changes})


def test_a_delta_that_is_not_below_one_in_n_is_said_to_be_weak():
    terms = PrivacyTerms(**PLAN, **SHUFFLED)
    assert any("1/n" in line for line in terms.assumptions())
    assert not any("1/n" in line for line in replace(terms, delta=1e-5).assumptions())


def test_a_noisy_release_of_alpha_costs_more():
    terms = PrivacyTerms(**PLAN, **SHUFFLED)
    free, charged = edp_epsilon(terms, 1.0), edp_epsilon(replace(terms, alpha_source="noisy_release", alpha_z=1.0), 1.0)
    assert charged.mu == pytest.approx(math.hypot(free.mu, 1.0))


def test_a_run_cut_short_spends_what_its_steps_spent():
    terms = PrivacyTerms(**{**PLAN, "epochs": 4}, **SAMPLED)
    half = edp_epsilon(terms, 4.0, steps=140)
    assert half.epsilon == pytest.approx(edp_epsilon(replace(terms, epochs=2), 4.0).epsilon, rel=1e-6)
    assert half.epsilon < edp_epsilon(terms, 4.0).epsilon
    assert edp_epsilon(terms, 4.0, steps=0).epsilon == 0
    # a shuffled epoch that was begun counts whole: the rest of its batches say nothing about the examples in them
    assert epsilon_of(**PLAN, **SHUFFLED, z0=1.0, steps=1).mu == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [SHUFFLED, SAMPLED])
def test_the_noise_found_for_a_budget_keeps_it_and_wastes_little(kind):
    terms = PrivacyTerms(**PLAN | {"epochs": 2, "delta": 1e-5} | kind)
    assert 1.97 <= edp_epsilon(terms, find_z0(terms, 2.0)).epsilon <= 2.0


@settings(max_examples=50, deadline=None)
@given(st.floats(0.05, 50), st.floats(1e-9, 0.4))
def test_the_gaussian_curve_is_inverted_exactly(mu, delta):
    from scipy.stats import norm

    epsilon = gdp_epsilon(mu, delta)
    back = norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon + norm.logcdf(-epsilon / mu - mu / 2))
    assert back <= delta * (1 + 1e-6)
    assert epsilon == 0 or back >= delta * (1 - 1e-6)


def test_the_published_claim_counts_a_noisy_release_of_alpha_too():
    """It was refused: the accounting was told that alpha is released, and not with how much noise."""
    published = {"mode": "paper", "z0": 1.0, "sampling": "shuffle", "batch_size": 8, "n_micro": 2, "epochs": 2}
    free, charged = (
        make_plan(TrainSettings(**published, **alpha), 64, 1).claimed()
        for alpha in ({}, {"alpha": "noisy_release", "alpha_z": 1.0})
    )
    assert charged.rho == pytest.approx(free.rho + 0.5) and not charged.sound
