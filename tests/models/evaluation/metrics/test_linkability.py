"""D_sys is 0 for scores that tell nothing, 1 for scores that tell all, and the known value in between."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.metrics.linkability import linkability, measured

GOLDEN = Path(__file__).parents[5] / "shared" / "golden"


def gauss_row(separation: float) -> dict[str, str]:
    if not GOLDEN.exists():
        pytest.skip("no folder of golden values beside the checkout")
    with open(GOLDEN / "linkability_gauss.csv") as file:
        return next(row for row in csv.DictReader(file) if float(row["dprime"]) == separation)


@pytest.mark.parametrize("separation", [0.25, 0.5, 1.0, 2.0, 3.0, 4.0])
def test_gaussian_scores_reach_the_value_of_the_integral(separation: float) -> None:
    """200,000 draws: the standard error is below 0.002 and the bias of the bins below 0.005; a miss of 0.015 is a bug."""
    row = gauss_row(separation)
    rng = np.random.default_rng(1)
    mated, other = rng.normal(separation, 1, 200_000), rng.normal(0, 1, 200_000)
    assert linkability(mated, other) == pytest.approx(float(row["Dsys_om1"]), abs=0.015)
    assert linkability(mated, other, prior_odds=1 / 3) == pytest.approx(float(row["Dsys_om_third"]), abs=0.015)


@pytest.mark.parametrize("count", [100, 500, 2000, 20_000])
def test_under_chance_the_bias_is_the_known_one_and_is_reported(count: int) -> None:
    """Mean over 60 draws: its standard error is below a tenth of the bias."""
    if not GOLDEN.exists():
        pytest.skip("no folder of golden values beside the checkout")
    with open(GOLDEN / "linkability_null_bias.csv") as file:
        row = next(row for row in csv.DictReader(file) if int(row["n_each"]) == count)
    rng = np.random.default_rng(2)
    found = np.mean([linkability(rng.normal(size=count), rng.normal(size=count)) for _ in range(60)])
    assert found == pytest.approx(float(row["Dsys_mass_cuberoot_bins"]), rel=0.5)
    result = measured(rng.normal(size=count), rng.normal(size=count), repeats=50)
    assert result.chance == pytest.approx(found, rel=0.5) and result.low <= result.value <= result.high


def test_separable_scores_give_exactly_one_also_upside_down() -> None:
    one, other = np.linspace(0, 1, 50), np.linspace(2, 3, 70)
    assert linkability(one, other) == linkability(other, one) == pytest.approx(1.0)


def test_equal_constant_scores_give_nothing() -> None:
    assert linkability([1.0, 1.0], [1.0]) == 0.0


scores = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


@settings(max_examples=150, deadline=None)
@given(scores, scores, st.floats(0.01, 10))
def test_it_lies_between_0_and_1_and_ignores_the_unit_of_the_scores(
    mated: list[float], other: list[float], odds: float
) -> None:
    value = linkability(mated, other, odds)
    assert 0 <= value <= 1
    assert linkability(mated, other, odds) <= linkability(mated, other, odds * 2) + 1e-9
    if all(float(x).is_integer() for x in mated + other):
        moved = linkability([x * 4 + 8 for x in mated], [x * 4 + 8 for x in other], odds)
        assert moved == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("mated, other", [([], [1.0]), ([1.0], []), ([float("nan")], [1.0])])
def test_scores_that_say_nothing_are_refused(mated: list[float], other: list[float]) -> None:
    with pytest.raises(SettingsError):
        linkability(mated, other)
