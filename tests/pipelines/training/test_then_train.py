"""`--then-train`: a whole run, from the demo corpus to a model, and that training starts once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from whole_runs import DEMO, demo_records, private_of, sottovoce, write_manifest

from sottovoce.pipelines.commands.nightly import EXIT_NOT_TRAINED
from sottovoce.pipelines.nightly.finished_runs import finished_runs
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training import start_training as starting
from sottovoce.pipelines.training.marker import read_marker

pytestmark = pytest.mark.slow

TRAIN = {
    "model": {"use": "clc", "hidden": 8, "word_size": 8, "buckets": 64, "filters": 4, "character_size": 4},
    "z0": 1.0,
    "unit": "example",
    "epochs": 1,
    "batch_size": 16,
    "n_micro": 2,
}
LAUNCH = {"launch": {"use": "local", "processes": 2, "poll_s": 0.1}}


def text_records(count: int) -> list[dict]:
    spoken = ("audio_filepath", "duration")
    return [{key: value for key, value in row.items() if key not in spoken} for row in demo_records(count)]


@pytest.fixture
def asked(tmp_path, secret_file):
    """Flags of a run over a part of the demo, without speech and with the rules for detector: quick, and all else real."""
    write_manifest(tmp_path / "in", text_records(60))
    job = {"detect": "rules", "sinks": {"slu": 1}, "audit": {"unmeasured": "allow"}}
    for name, values in (("job", job), ("train", TRAIN), ("launch", LAUNCH)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(values))
    run = ["--input", tmp_path / "in", "--output", tmp_path / "out", "--config", tmp_path / "job.yaml"]
    training = ["--then-train", tmp_path / "train.yaml", "--launch", tmp_path / "launch.yaml"]
    return [*run, "--secret-file", secret_file, *training]


def runs(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "out").glob("run-*"))


def wait_for_end(run: Path) -> str:
    marker = read_marker(open_run(str(run)))
    return list(marker.launcher().watch(marker.handle))[-1].state


@pytest.mark.long
def test_a_sanitised_corpus_is_trained_on_by_two_processes_once(tmp_path, asked):
    first = sottovoce("sanitize", *asked)
    (run,) = runs(tmp_path)
    assert "is committed" in first.stdout and "training started: local job" in first.stdout
    assert wait_for_end(run) == "succeeded", (private_of(run) / "training/job-1/log.txt").read_text()
    card = json.loads((run.parent / "trained" / run.name / "model/privacy_card.json").read_text())
    assert card["epsilon"] > 0 and card["steps_taken"] == card["steps_planned"]
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    again = sottovoce("sanitize", *asked)
    assert "was finished before" in again.stdout and "training was started before: local job" in again.stdout
    after = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file() and path.suffix != ".lock"}
    assert after == {path: time for path, time in before.items() if path.suffix != ".lock"}


@pytest.mark.long
def test_the_example_trains_on_the_demo(tmp_path, secret_file):
    write_manifest(tmp_path / "in", text_records(400))
    allowed = ["--set", "audit.unmeasured=allow", "--sinks", "slu", "--secret-file", secret_file]
    done = sottovoce(
        "sanitize", "--input", tmp_path / "in", "--output", tmp_path / "out",
        "--then-train", DEMO.parent / "train.yaml", *allowed,
    )  # fmt: skip
    assert "training started" in done.stdout
    (run,) = runs(tmp_path)
    assert wait_for_end(run) == "succeeded", (private_of(run) / "training/job-1/log.txt").read_text()


def test_too_few_speakers_are_told_before_anybody_is_charged(tmp_path, asked):
    (tmp_path / "train.yaml").write_text(yaml.safe_dump(TRAIN | {"unit": "speaker"}))
    done = sottovoce("sanitize", *asked, check=False)
    assert "unit: example protects single examples instead" in done.stderr
    (run,) = runs(tmp_path)
    assert not [path for path in (private_of(run) / "training").rglob("*") if path.name != "lock"]


@pytest.mark.long
def test_a_run_killed_between_commit_and_start_is_trained_by_the_same_command(tmp_path, asked):
    assert "is committed" in sottovoce("sanitize", *asked[: asked.index("--then-train")]).stdout
    (run,) = runs(tmp_path)
    assert not (private_of(run) / "training/marker.json").exists()
    again = sottovoce("sanitize", *asked)
    assert "was finished before" in again.stdout and "training started" in again.stdout
    assert wait_for_end(run) == "succeeded"


def test_a_closed_gate_says_which_threshold_and_starts_nothing(tmp_path, asked):
    gate = {"min_detector_recall": 0.999, "max_epsilon": {"unit": 1.5}, "max_failed_share": 0.0}
    (tmp_path / "launch.yaml").write_text(yaml.safe_dump({**LAUNCH, "gate": gate}))
    write_manifest(tmp_path / "in", [*text_records(60), "no record"])
    done = sottovoce("sanitize", *asked, "--set", "replace={use: word, target_epsilon: 2.0}", check=False)
    (run,) = runs(tmp_path)
    assert done.returncode == 1 and "is committed" in done.stdout
    for reason in ("failures: 1 of 61 records failed", "recall:", "sound epsilon 2 per unit; allowed: 1.5"):
        assert reason in done.stderr
    assert not (private_of(run) / "training/marker.json").exists() and not list(run.glob("training"))


@pytest.mark.parametrize("command", ["sanitize", "nightly"])
@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("train.yaml", "z0: 1.0\nepohcs: 3\n", "did you mean 'epochs'"),
        ("train.yaml", "mode: sound\n", "mode sound adds noise"),
        ("launch.yaml", "launch: {use: local}\ngate: {max_failed: 1}\n", "gate.max_failed: unknown key"),
        ("job.yaml", "sinks: {dm: 1}\n", "set sinks.slu"),
    ],
)
def test_what_is_wrong_is_told_before_the_run_begins(tmp_path, asked, command, file, text, problem):
    (tmp_path / file).write_text(text)
    done = sottovoce(command, *asked, check=False)
    assert done.returncode == 2 and problem in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_place_to_train_without_a_training_is_refused(tmp_path, asked):
    at = asked.index("--then-train")
    done = sottovoce("sanitize", *asked[:at], "--launch", "slurm", check=False)
    assert done.returncode == 2 and "needs --then-train" in done.stderr


@pytest.fixture
def noted(tmp_path, monkeypatch) -> Path:
    """In place of the training, a script that notes that it ran."""
    script = tmp_path / "script.py"
    script.write_text(f"import sys; open({str(tmp_path / 'ran')!r}, 'a').write(sys.argv[2] + '\\n')\n")
    monkeypatch.setattr(starting, "TRAIN", (str(script),))
    (tmp_path / "launch.yaml").write_text("launch: {use: local, poll_s: 0.05}\n")
    return tmp_path / "ran"


def night(asked, *more) -> tuple[int, dict]:
    done = sottovoce("nightly", *asked, *more, check=False)
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_each_night_is_trained_on_once(tmp_path, asked, noted):
    code, summary = night(asked)
    assert (code, summary["status"]) == (0, "committed")
    assert [row["status"] for row in summary["training"]] == ["started"]
    code, summary = night(asked)
    assert (code, summary["status"]) == (0, "nothing_new")
    assert [row["status"] for row in summary["training"]] == ["started_before"]
    write_manifest(tmp_path / "in", text_records(120))
    assert [row["status"] for row in night(asked)[1]["training"]] == ["started"]
    assert [wait_for_end(run) for run in runs(tmp_path)] == ["succeeded"] * 2
    assert sorted(noted.read_text().splitlines()) == sorted(str(run / "slu") for run in runs(tmp_path))


def test_nights_of_one_second_are_in_the_order_in_which_they_were_made(tmp_path, asked):
    made = []
    for count in (60, 90, 120):
        write_manifest(tmp_path / "in", text_records(count))
        made.append(night(asked[:-4])[1]["run_id"])
    assert [run.folder.name for run in finished_runs(str(tmp_path / "out"))] == made
    moments = [run.record["created"] for run in finished_runs(str(tmp_path / "out"))]
    assert moments == sorted(set(moments))


def test_a_start_cut_off_in_one_night_is_completed_in_the_next(tmp_path, asked, noted, monkeypatch):
    def cut_off(folder, marker):
        raise KeyboardInterrupt

    monkeypatch.setattr(starting, "_submit", cut_off)
    assert sottovoce("nightly", *asked, check=False).returncode == 130
    monkeypatch.undo()
    monkeypatch.setattr(starting, "TRAIN", (str(tmp_path / "script.py"),))
    write_manifest(tmp_path / "in", text_records(120))
    code, summary = night(asked)
    assert (code, [row["status"] for row in summary["training"]]) == (0, ["started", "started"])
    assert [wait_for_end(run) for run in runs(tmp_path)] == ["succeeded"] * 2
    assert len(noted.read_text().splitlines()) == 2


def test_a_night_whose_gate_is_closed_is_committed_and_says_so(tmp_path, asked, noted):
    (tmp_path / "launch.yaml").write_text("launch: local\ngate: {min_detector_recall: 0.999}\n")
    code, summary = night(asked)
    assert (code, summary["status"]) == (EXIT_NOT_TRAINED, "committed")
    (row,) = summary["training"]
    assert row["status"] == "not_started" and "recall" in row["error"]
    assert not noted.exists()
