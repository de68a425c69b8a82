"""The planning calculator: the figures of the golden tables from the command line."""

import csv
import json
from pathlib import Path

import pytest

from sottovoce.pipelines.cli import main

GOLDEN = Path(__file__).parents[3] / "../shared/golden"
KEYS = """epsilon_unit epsilon_pure epsilon delta delta_at_epsilon p_needed epsilon_random_miss fraction_in_clear
keep_uniform keep_token_dependent p_min p_max"""


def budget(capsys, *arguments):
    assert main(["budget", "rr", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_papers_example(capsys):
    figures = budget(capsys, "--p", 0.9, "--pi-min", 1.30253e-4)
    assert list(figures) == KEYS.split()
    assert figures["epsilon_unit"] == pytest.approx(6.75, abs=1e-3)


def test_recall_units_and_delta(capsys):
    figures = budget(capsys, "--p", 0.9, "--pi-min", 0.001, "--units", 5, "--recall", 0.95, "--epsilon", 4)
    assert figures["epsilon_pure"] == pytest.approx(5 * figures["epsilon_unit"])
    assert figures["epsilon"] < figures["epsilon_pure"] and 0 < figures["delta_at_epsilon"] < 0.5
    assert figures["fraction_in_clear"] == pytest.approx(0.145)
    assert figures["epsilon_random_miss"] == pytest.approx(5.139266787567866)


def test_golden_composition_rows(capsys):
    if not (GOLDEN / "rr_composition.csv").exists():
        pytest.skip("the golden tables are not on this machine")
    with open(GOLDEN / "rr_composition.csv") as file:
        for row in csv.DictReader(file):
            figures = budget(capsys, "--p", row["p"], "--pi-min", row["pi_min"], "--units", row["k"], "--delta", 1e-5)
            assert figures["epsilon"] == pytest.approx(float(row["eps_pld_d1e5"]), abs=1e-6)


def test_the_exact_figure_is_below_the_rounded_one(capsys):
    arguments = ("--p", 0.9, "--pi-min", 0.001, "--units", 5)
    assert budget(capsys, *arguments, "--grid", 0)["epsilon"] < budget(capsys, *arguments)["epsilon"]


def test_target_epsilon_with_zipf_keeps_far_more_by_token(capsys):
    figures = budget(capsys, "--target-epsilon", 6.75, "--zipf", 2000)
    assert figures["p_needed"] == pytest.approx(0.9504317881749461)
    assert figures["keep_uniform"] == pytest.approx(0.04956821182505389)
    assert figures["keep_token_dependent"] == pytest.approx(0.47181025404787774)
    assert figures["p_min"] == pytest.approx(0.2056811420184342) and figures["p_max"] == pytest.approx(
        0.9893209465221064
    )


def test_a_list_from_a_file(capsys, tmp_path):
    (tmp_path / "list.tsv").write_text("anna\t3\nbert\t1\n")
    assert budget(capsys, "--p", 0.5, "--distribution", tmp_path / "list.tsv")["epsilon_unit"] == pytest.approx(
        1.6094379
    )


def test_without_json_it_prints_words(capsys):
    assert main(["budget", "rr", "--p", "0.9", "--pi-min", "0.001"]) == 0
    assert "epsilon of one unit" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--p", "1.5", "--pi-min", "0.1"],
        ["--p", "nan", "--pi-min", "0.1"],
        ["--pi-min", "0.1"],
        ["--p", "0.5", "--distribution", "absent.tsv"],
        ["--p", "0.5", "--pi-min", "0.1", "--units", "0", "--delta", "2"],
    ],
)
def test_bad_values_are_reported_with_what_is_allowed(capsys, arguments):
    assert main(["budget", "rr", *arguments]) == 2
    assert "error: --" in capsys.readouterr().err
