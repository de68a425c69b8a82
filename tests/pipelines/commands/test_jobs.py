"""`start-training` and `jobs` from the command line, with real processes on this machine."""

import json
from pathlib import Path

import pytest
from committed_run import held, make_run

from sottovoce.pipelines import cli
from sottovoce.pipelines.training import start_training as starting

pytestmark = pytest.mark.slow

SETTINGS = "mode: plain\nepochs: 1\n"


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    script = tmp_path / "script.py"
    script.write_text("import sys, time\nprint('epoch 1', flush=True)\ntime.sleep(600)\n")
    monkeypatch.setattr(starting, "TRAIN", (str(script),))
    (tmp_path / "train.yaml").write_text(SETTINGS)
    return held(make_run(tmp_path / "out" / "run-1"))


def start(run: Path, *more: str) -> int:
    config = run.parents[1] / "train.yaml"
    return cli.main(["start-training", "--run", str(run), "--config", str(config), *more])


def test_a_job_is_started_shown_read_and_cancelled(run, capsys):
    assert start(run) == 0
    assert start(run) == 0
    said = capsys.readouterr().out
    assert "training started: local job run-1-" in said and "training was started before" in said
    assert "gate  failures: 2 of 100 records failed" in said and "recall: not asked" in said
    assert cli.main(["jobs", "status", str(run)]) == 0
    assert "  running  (process " in capsys.readouterr().out
    assert cli.main(["jobs", "cancel", str(run)]) == 0
    assert "  cancelled" in capsys.readouterr().out
    assert cli.main(["jobs", "logs", str(run)]) == 0
    assert set(capsys.readouterr().out.splitlines()) <= {"epoch 1"}


def test_all_jobs_of_a_folder_are_listed_and_a_failed_one_fails_the_command(run, tmp_path, capsys):
    (tmp_path / "script.py").write_text("raise SystemExit(5)")
    other = held(make_run(tmp_path / "out" / "run-2", failed=3))
    assert [start(run), start(other)] == [0, 0]
    assert [cli.main(["jobs", "status", str(path), "--watch"]) for path in (run, other)] == [1, 1]
    capsys.readouterr()
    assert cli.main(["jobs", "status", str(tmp_path / "out"), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["run"], row["state"], row["detail"]) for row in rows] == [
        ("run-1", "failed", "exit code 5"),
        ("run-2", "failed", "exit code 5"),
    ]


def test_a_closed_gate_is_an_error_of_the_command_and_names_the_reason(tmp_path, run, capsys):
    crowded = held(make_run(tmp_path / "out" / "run-3", failed=50))
    assert start(crowded) == 1
    said = capsys.readouterr().err
    assert "the gate is closed; nothing was started" in said
    assert "failures: 50 of 100 records failed (0.5); allowed: 0.1" in said


@pytest.mark.parametrize("action", ["status", "logs", "cancel"])
def test_a_run_without_training_is_said(run, capsys, action):
    assert cli.main(["jobs", action, str(run)]) == 1
    assert "no training was started" in capsys.readouterr().err


def test_an_unknown_launcher_is_told_with_what_is_allowed(run, capsys):
    assert start(run, "--launch", "cloud") == 2
    assert "'cloud' is not known; allowed: local, slurm, kubernetes, vertex" in capsys.readouterr().err
