"""`sottovoce evaluate scores` reads lists of numbers, and says which line of which file is no number."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sottovoce.pipelines.cli import main


def write(path, numbers) -> str:
    path.write_text("".join(f"{number}\n" for number in numbers))
    return str(path)


def test_every_figure_comes_with_its_interval(tmp_path, capsys) -> None:
    rng = np.random.default_rng(0)
    mated, other = write(tmp_path / "m", rng.normal(2, 1, 400)), write(tmp_path / "n", rng.normal(0, 1, 900))
    assert main(["evaluate", "scores", "--mated", mated, "--non-mated", other, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for name in ("eer", "cllr", "cllr_min", "d_sys"):
        low, high = found[f"{name}_interval"]
        assert low <= found[name] <= high
    assert found["eer"] == pytest.approx(0.159, abs=0.03) and (found["mated"], found["non_mated"]) == (400, 900)
    assert main(["evaluate", "scores", "--mated", mated, "--non-mated", other]) == 0
    assert "cllr_min" in capsys.readouterr().out


@pytest.mark.parametrize("content, where", [("1\n2\nx y\n", "line 3"), ("1\nnan\n", "line 2"), ("\n \n", "no score")])
def test_a_bad_file_is_named_with_its_line_and_what_is_allowed(tmp_path, capsys, content, where) -> None:
    bad, good = tmp_path / "bad.txt", write(tmp_path / "good.txt", [1.0])
    bad.write_text(content)
    assert main(["evaluate", "scores", "--mated", str(bad), "--non-mated", good]) == 1
    message = capsys.readouterr().err
    assert "bad.txt" in message and where in message and "one finite number a line" in message and "x y" not in message


def test_a_missing_or_binary_file_is_one_line(tmp_path, capsys) -> None:
    good, binary = write(tmp_path / "good.txt", [1.0]), tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    for path in (tmp_path / "absent", binary):
        assert main(["evaluate", "scores", "--mated", good, "--non-mated", str(path)]) == 1
        assert "cannot be read as text" in capsys.readouterr().err
