"""A model that was trained on somebody who was forgotten since is shown as such, and trained anew without them."""

from __future__ import annotations

import hashlib
import json

import pyarrow.parquet as pq
import pytest
import yaml
from forgetting import as_text, by_turns, forget, run_in, sanitised
from whole_runs import demo_records, private_of, rows, sottovoce, write_secret

from sottovoce.models.forget.whose import speaker_token
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training.marker import read_marker

pytestmark = pytest.mark.slow

JOB = ("--set", "detect=rules", "--set", "sinks={slu: 1, dm: 1}", "--set", "output.shards=2")
TRAIN = {
    "model": {"use": "clc", "hidden": 8, "word_size": 8, "buckets": 64, "filters": 4, "character_size": 4},
    "z0": 1.0,
    "unit": "example",
    "epochs": 1,
    "batch_size": 16,
    "n_micro": 2,
}


@pytest.fixture
def trained(tmp_path):
    """(run, secret, flags of start-training) of a run with its model."""
    secret_file = write_secret(tmp_path / "secret")
    output = sanitised(tmp_path, [as_text(record) for record in demo_records(90)], secret_file, *JOB)
    (tmp_path / "train.yaml").write_text(yaml.safe_dump(TRAIN))
    (tmp_path / "launch.yaml").write_text(
        yaml.safe_dump({"launch": {"use": "local", "poll_s": 0.1}, "gate": {"audit": False}})
    )
    flags = ("--config", tmp_path / "train.yaml", "--launch", tmp_path / "launch.yaml", "--run", run_in(output))
    sottovoce("start-training", *flags)
    assert end_of_training(run_in(output)) == "succeeded"
    return run_in(output), secret_file, flags


def end_of_training(run) -> str:
    marker = read_marker(open_run(str(run)))
    return list(marker.launcher().watch(marker.handle))[-1].state


def speakers_in(run, sink: str) -> set[str]:
    """By the index, with the secret."""
    secret = Secret((run.parents[1] / "secret").read_bytes())
    names = {speaker_token(secret, name): name for name in {record["speaker_id"] for record in demo_records(90)}}
    tables = (pq.read_table(path) for path in (private_of(run) / "index").glob(f"{sink}-part-*"))
    return {names[token] for table in tables for token in table["speaker"].to_pylist()}


@pytest.mark.long
def test_a_model_is_trained_anew_without_whoever_was_forgotten_and_the_old_one_goes(trained):
    run, secret_file, flags = trained
    never_read, *_ = sorted(speakers_in(run, "dm") - speakers_in(run, "slu"))
    who, *_ = sorted(speakers_in(run, "slu"))
    model = run.parent / "trained" / run.name / "model"
    old = {path.name: path.read_bytes() for path in model.iterdir()}

    assert "train anew" not in forget(run.parent, secret_file, "--speaker", never_read), "training reads slu alone"
    said = forget(run.parent, secret_file, "--speaker", who)
    assert f"train anew       {run.name}" in said
    assert "to be trained anew: records were erased on" in sottovoce("jobs", "status", run).stdout
    row = json.loads(sottovoce("jobs", "status", run.parent, "--json").stdout)
    assert (row["state"], row["run"]) == ("succeeded", run.name) and row["to_be_trained_anew_since"]
    assert "train the model anew with --retry" in sottovoce("start-training", *flags).stdout
    assert {path.name: path.read_bytes() for path in model.iterdir()} == old, "until then it stays"

    sottovoce("start-training", *flags, "--retry")
    assert end_of_training(run) == "succeeded", (private_of(run) / "training/job-2/log.txt").read_text()
    marker = read_marker(open_run(str(run)))
    assert (marker.attempt, marker.resume, marker.stale) == (2, False, None)
    assert "anew" not in sottovoce("jobs", "status", run).stdout
    assert {path.name: path.read_bytes() for path in model.iterdir()} != old
    assert not (private_of(run) / "training" / "model").exists(), "the checkpoint has seen them"
    assert marker.commit == hashlib.sha256((run / "_COMMITTED.json").read_bytes()).hexdigest()
    assert json.loads((model / "privacy_card.json").read_text())["parameters"]["n"] <= len(rows(run, "slu"))
    done = sottovoce("start-training", *flags, "--retry", check=False)
    assert done.returncode == 1 and "spend the privacy budget twice" in done.stderr


def test_nobody_is_taken_for_trained_on_before_a_job_was_submitted(tmp_path):
    secret_file = write_secret(tmp_path / "secret")
    records = by_turns([as_text(record) for record in demo_records(20)], "one", "two")
    output = sanitised(tmp_path, records, secret_file, *JOB)
    assert "train anew" not in forget(output, secret_file, "--speaker", "one")
    assert not (private_of(run_in(output)) / "training").exists()
