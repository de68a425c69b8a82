"""EER, Cllr and Cllr_min have the values of theory, agree with another implementation, and ignore what they should."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.metrics.verification import eer, estimates, over_speakers, verification

GOLDEN = Path(__file__).parents[5] / "shared" / "golden"


def golden(name: str) -> list[dict[str, str]]:
    if not GOLDEN.exists():
        pytest.skip("no folder of golden values beside the checkout")
    with open(GOLDEN / name) as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", range(6))
def test_gaussian_log_ratios_have_the_values_of_theory(row: int) -> None:
    """100,000 draws of each kind: standard errors are below 0.002; a miss of 0.01 is a bug."""
    known = golden("linkability_gauss.csv")[row]
    apart = float(known["dprime"])
    rng = np.random.default_rng(row)
    mated, other = (rng.normal(sign * apart**2 / 2, apart, 100_000) for sign in (1, -1))
    found = verification(mated, other)
    assert found.eer == pytest.approx(float(known["EER"]), abs=0.01)
    assert found.cllr == pytest.approx(float(known["Cllr_calibrated"]), abs=0.01)
    assert found.cllr_min == pytest.approx(float(known["Cllr_min"]), abs=0.01)


@pytest.mark.parametrize("row", range(3))
def test_under_chance_small_samples_have_the_known_bias(row: int) -> None:
    """Mean over 40 draws; the golden value is a mean as well."""
    known = golden("linkability_null_bias.csv")[row]
    count, rng = int(known["n_each"]), np.random.default_rng(5)
    found = [verification(rng.normal(size=count), rng.normal(size=count)) for _ in range(40)]
    assert np.mean([f.eer for f in found]) == pytest.approx(float(known["EER_rocch"]), abs=0.012)
    assert np.mean([f.cllr_min for f in found]) == pytest.approx(float(known["Cllr_min"]), abs=0.012)


def test_another_implementation_gives_the_same() -> None:
    """llreval (MIT) computes the three figures by code of its own."""
    other_code = pytest.importorskip("llreval.quick_eval")
    rng = np.random.default_rng(0)
    for apart in (0.0, 0.7, 3.0):
        mated, other = rng.normal(apart, 1.5, 300), rng.normal(-apart, 1, 500)
        found = verification(mated, other)
        expected = other_code.tarnon_2_eer_cllr_mincllr(mated, other)
        assert (found.eer, found.cllr, found.cllr_min) == pytest.approx(tuple(map(float, expected)), abs=1e-6)


def test_separable_scores_and_constant_scores_are_the_extremes() -> None:
    apart = verification([2.0, 3.0], [0.0, 1.0])
    assert (apart.eer, apart.cllr_min) == (0.0, 0.0)
    same = verification([1.0, 1.0, 1.0], [1.0, 1.0])
    assert (same.eer, same.cllr_min) == (0.5, 1.0)
    upside_down = verification([0.0, 1.0], [2.0, 3.0])
    assert (upside_down.eer, upside_down.cllr_min) == (0.5, 1.0)


def test_a_score_of_zero_tells_nothing() -> None:
    assert verification([0.0], [0.0]).cllr == pytest.approx(1.0)


scores = st.lists(st.floats(-50, 50), min_size=1, max_size=40)


@given(scores, scores)
def test_bounds_hold_and_a_monotone_map_changes_neither_eer_nor_cllr_min(
    mated: list[float], other: list[float]
) -> None:
    found = verification(mated, other)
    assert 0 <= found.eer <= 0.5 + 1e-12 and -1e-12 <= found.cllr_min <= min(1.0, found.cllr) + 1e-9
    if len({*mated, *other}) == len({round(x, 3) for x in [*mated, *other]}):
        moved = verification([x * 3 + 5 for x in mated], [x * 3 + 5 for x in other])
        assert moved.eer == pytest.approx(found.eer, abs=1e-9)
        assert moved.cllr_min == pytest.approx(found.cllr_min, abs=1e-9)


def test_intervals_hold_the_figure_and_shrink_with_more_scores() -> None:
    rng = np.random.default_rng(1)
    few, many = (estimates(rng.normal(1, 1, n), rng.normal(0, 1, n), repeats=60)["eer"] for n in (60, 6000))
    assert few.low <= few.value <= few.high and few.high - few.low > 3 * (many.high - many.low)


def test_an_interval_over_speakers_is_wider_than_one_over_scores_when_speakers_differ() -> None:
    """Each speaker has a likeness of their own, so ten trials of one speaker are worth about one."""
    rng = np.random.default_rng(2)
    cube = rng.normal(0, 0.1, (20, 20, 10)) + rng.normal(0, 1, (20, 20, 1))
    cube[np.arange(20), np.arange(20)] += 1
    cube[0, 1, 3] = np.nan
    wide = over_speakers(cube, eer, repeats=60)
    own = cube[np.eye(20, dtype=bool)].ravel()
    non_mated = cube[~np.eye(20, dtype=bool)].ravel()
    narrow = estimates(own, non_mated[~np.isnan(non_mated)], repeats=60)["eer"]
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


@pytest.mark.parametrize("mated, other", [([], [1.0]), ([1.0], []), ([float("nan")], [1.0]), ([1.0], [float("inf")])])
def test_scores_that_say_nothing_are_refused(mated: list[float], other: list[float]) -> None:
    with pytest.raises(SettingsError):
        verification(mated, other)
