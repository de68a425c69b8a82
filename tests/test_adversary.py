"""The harness of tests/adversary keeps its own rules: nothing of the operator, no stale weakness, luck that is counted."""

from __future__ import annotations

import pytest
from adversary import Cheating, Operator, Released, as_outsider, assert_learnt, assert_only_guessed, at_most, weakened


def test_an_attack_that_reaches_for_the_secret_or_for_private_state_is_refused(tmp_path):
    operator = Operator(tmp_path)
    private = operator.out("out") / "private"
    private.mkdir(parents=True)
    (private / "secret").write_text("x")
    (operator.out("out") / "report.html").write_text("y")
    released = operator.hand_over()
    assert isinstance(released, Released) and set(released.files()) == {"report.html"}
    for reach in (operator.secret_file.read_bytes, (private / "secret").read_text, lambda: list(private.iterdir())):
        with pytest.raises(Cheating):
            as_outsider(reach)
    assert as_outsider(released.files) == {"report.html": b"y"}
    assert operator.secret_file.read_bytes() == operator.secret, "the operator may"


def test_a_weakness_whose_target_has_moved_is_an_error():
    with (
        pytest.raises(AssertionError, match="is gone"),
        weakened("x", {"sottovoce.models.randomness:Secret.old": None}),
    ):
        pass


def test_luck_is_exact():
    assert_learnt(20, 20, 0.5 - 0.001)
    assert_only_guessed(19, 20, 0.5)
    with pytest.raises(AssertionError, match="could be luck"):
        assert_learnt(19, 20, 0.5)
    with pytest.raises(AssertionError, match="better than guessing"):
        assert_only_guessed(60, 100, 0.3)
    assert at_most(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100)) and at_most(5, 5) == 1.0
