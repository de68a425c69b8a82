"""The planning calculator of ADePT: the golden table from the command line."""

import csv
import json
from pathlib import Path

import pytest

from sottovoce.pipelines.cli import main

GOLDEN = Path(__file__).parents[3] / "../shared/golden/adept.csv"


def budget(capsys, **asked):
    arguments = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    assert main(["budget", "adept", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_golden_rows(capsys):
    if not GOLDEN.exists():
        pytest.skip("the golden tables are not on this machine")
    with open(GOLDEN) as file:
        for row in csv.DictReader(file):
            found = budget(capsys, clip=row["C"], dimension=row["dim"], epsilon=row["eps"], delta=row["delta"])
            for name, value in row.items():
                expected = value == "True" if value in ("True", "False") else float(value)
                assert found[name] == pytest.approx(expected, rel=1e-6), name
                assert found[name.replace("eps", "epsilon")] == found[name]


def test_the_papers_laplace_is_off_by_the_root_of_the_dimension(capsys):
    found = budget(capsys, clip=1, dimension=1024, epsilon=1, delta=1e-5)
    assert found["epsilon_actual_of_paper_laplace"] == pytest.approx(32)
    assert found["laplace_scale_sound"] == pytest.approx(32 * found["laplace_scale_paper"])


@pytest.mark.parametrize("wrong", ["--clip 0", "--dimension 0", "--epsilon -1", "--delta 1", "--epsilon nan"])
def test_values_out_of_range_are_named(capsys, wrong):
    flags = ["--clip", "1", "--dimension", "8", "--epsilon", "1", "--delta", "1e-5", *wrong.split()]
    assert main(["budget", "adept", *flags]) == 2
    assert f"error: {wrong.split()[0]}:" in capsys.readouterr().err
