"""A study that was killed goes on: no step is done twice, none is half there, and nobody else may read them."""

from __future__ import annotations

import os
import pickle

import pytest

from sottovoce.models.errors import RunError
from sottovoce.pipelines.studies.kept_steps import KeptStep, KeptSteps, identity_of


def test_a_second_study_repeats_nothing_and_says_so(tmp_path) -> None:
    done, lines = [], []

    def steps() -> list[KeptStep]:
        return [KeptStep(f"step {n}", identity_of("s", n), 60, lambda n=n: done.append(n) or n * n) for n in range(3)]

    first = KeptSteps(tmp_path / "kept", lines.append)
    first.announce(steps())
    assert [first.result(step) for step in steps()[:2]] == [0, 1]
    second = KeptSteps(tmp_path / "kept", lines.append)
    second.announce(steps())
    assert [second.result(step) for step in steps()] == [0, 1, 4]
    assert done == [0, 1, 2]
    assert lines[0] == "3 of 3 steps to do, about 3 minutes of one core"
    assert "1 of 3 steps to do, about 1 minutes of one core; 2 are kept from before" in lines


def test_a_step_that_fails_leaves_nothing_behind(tmp_path) -> None:
    kept = KeptSteps(tmp_path, lambda line: None)
    step = KeptStep("bad", identity_of("bad"), 1, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        kept.result(step)
    assert not kept.has(step) and not list(tmp_path.iterdir())


def test_kept_speech_is_readable_by_its_owner_alone_and_damage_is_named(tmp_path) -> None:
    kept = KeptSteps(tmp_path / "kept", lambda line: None)
    step = KeptStep("one", identity_of("one"), 1, lambda: [1])
    kept.result(step)
    (file,) = (tmp_path / "kept").iterdir()
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700 and file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"\x80")
    with pytest.raises(RunError, match="remove it and start the study again"):
        kept.result(step)


class Planted:
    def __init__(self, mark) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_a_file_that_somebody_put_into_the_folder_runs_nothing(tmp_path) -> None:
    mark = tmp_path / "mark"
    step, kept = KeptStep("planted", "0" * 32, 0.0, dict), KeptSteps(tmp_path / "kept", print)
    (tmp_path / "kept" / f"{step.identity}.pickle").write_bytes(pickle.dumps(Planted(mark)))
    with pytest.raises(RunError, match="cannot be read"):
        kept.result(step)
    assert not mark.exists()
