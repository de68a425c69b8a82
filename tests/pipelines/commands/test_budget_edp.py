"""`sottovoce budget edp`: the calculator of private training."""

import csv
import json
from pathlib import Path

import pytest

from sottovoce.pipelines.cli import main

FLAGS = "--decay linear --tau 0.1 --epochs 10 --n 4480 --batch-size 64 --n-micro 8 --microbatch-size 8 --delta 5e-4"
PLAN = FLAGS.split()


GOLDEN = Path(__file__).parents[4] / "shared/golden/edp_sgd.csv"
COLUMNS = {
    "--decay": "decay",
    "--tau": "tau",
    "--epochs": "epochs",
    "--n": "n",
    "--batch-size": "B",
    "--n-micro": "N",
    "--microbatch-size": "microbatch",
    "--delta": "delta",
    "--z0": "z0",
}


def figures(capsys, *flags, plan=PLAN):
    assert main(["budget", "edp", *plan, *flags, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("noise", "accountant", "epsilon", "key", "sound"),
    [
        ("paper_independent", "paper_zcdp", 29.150242, "rho", False),
        ("paper_independent", "gdp", 435.667237, "mu", True),
        ("sound", "gdp", 25.552575, "mu", True),
    ],
)
def test_each_way_of_counting_has_its_figure(capsys, noise, accountant, epsilon, key, sound):
    row = figures(capsys, "--z0", "1", "--sampling", "shuffle", "--noise", noise, "--accountant", accountant)
    assert row["epsilon"] == pytest.approx(epsilon, rel=1e-6)
    assert row["sound"] is sound
    assert len(row["z_eff"]) == 10 and row["assumptions"] and key in row


@pytest.mark.slow
@pytest.mark.skipif(not GOLDEN.exists(), reason="golden values are not on this machine")
@pytest.mark.long
def test_the_calculator_prints_every_golden_row(capsys):
    for row in csv.DictReader(GOLDEN.open()):
        plan = [word for flag, column in COLUMNS.items() for word in (flag, row[column])]
        for noise, accountant, column in (
            ("paper_independent", "paper_zcdp", "eps_paper_zcdp"),
            ("paper_independent", "gdp", "eps_literal_shuffle_gdp"),
            ("sound", "gdp", "eps_fixed_shuffle_gdp"),
        ):
            flags = ["--sampling", "shuffle", "--noise", noise, "--accountant", accountant]
            assert figures(capsys, *flags, plan=plan)["epsilon"] == pytest.approx(float(row[column]), rel=1e-6)
        flags = ["--sampling", "poisson", "--noise", "sound", "--accountant", "pld"]
        sampled = figures(capsys, *flags, plan=plan)
        assert sampled["epsilon"] == pytest.approx(float(row["eps_fixed_poisson_pld"]), rel=1e-3) and sampled["sound"]


def test_the_table_for_people_shows_the_claim_beside_the_figures_that_hold(capsys):
    assert main(["budget", "edp", *PLAN, "--z0", "1", "--sampling", "shuffle"]) == 0
    out = capsys.readouterr().out
    assert "29.1502" in out and "435.667" in out and "25.5526" in out


def test_the_noise_that_a_budget_needs_is_found(capsys):
    row = figures(capsys, "--target-epsilon", "8", "--sampling", "shuffle")
    assert 7.9 <= row["epsilon"] <= 8.0


@pytest.mark.parametrize("flags", [["--z0", "1", "--sampling", "shuffle", "--accountant", "pld"], [], ["--z0", "-1"]])
def test_what_cannot_be_counted_is_refused_with_a_reason(capsys, flags):
    assert main(["budget", "edp", *PLAN, *flags]) == 2
    assert capsys.readouterr().err.startswith("error: ")
