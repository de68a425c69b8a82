"""A run in a bucket starts training on Vertex: Beam's and Google's own clients, answered by stand-ins on loopback."""

import json

import pytest
from committed_run import make_run
from storage_stand_in import StorageStandIn
from vertex_stand_in import VertexStandIn

from sottovoce.pipelines import cli
from sottovoce.pipelines.sanitize.run_folder import RunFolder
from sottovoce.pipelines.training.marker import create_marker, read_marker
from sottovoce.pipelines.training.order import read_order
from sottovoce.pipelines.training.start_training import start_training

pytestmark = pytest.mark.slow
SETTINGS = "mode: plain\nepochs: 1\n"
RUN = "gs://bucket/out/run-1"


@pytest.fixture
def storage(tmp_path, monkeypatch):
    with StorageStandIn() as stand_in:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", stand_in.url)
        monkeypatch.setattr("apache_beam.internal.gcp.auth.get_service_credentials", lambda options: None)
        run = make_run(tmp_path / "run-1")
        for path in run.rglob("*"):
            if path.is_file():
                stand_in.objects["bucket", f"out/run-1/{path.relative_to(run)}"] = path.read_bytes()
        yield stand_in


@pytest.fixture
def vertex():
    with VertexStandIn() as stand_in:
        yield stand_in


@pytest.fixture
def files(tmp_path, vertex) -> tuple[str, str]:
    (tmp_path / "train.yaml").write_text(SETTINGS)
    launch = {
        "use": "vertex",
        "project": "p",
        "image": "image:1",
        "endpoint": vertex.url,
        "logging_endpoint": vertex.url,
    }
    (tmp_path / "launch.yaml").write_text(json.dumps({"launch": launch, "gate": {"audit": False}}))
    return str(tmp_path / "train.yaml"), str(tmp_path / "launch.yaml")


def test_a_run_in_a_bucket_becomes_one_job_that_reads_it(storage, vertex, files):
    started = start_training(RUN, read_order(*files))
    assert start_training(RUN, read_order(*files)).already
    (job,) = vertex.jobs.values()
    words = job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"]
    assert words[words.index("--data") + 1] == "/gcs/bucket/out/run-1/slu"
    assert words[words.index("--out") + 1] == "/gcs/bucket/out/trained/run-1"
    assert words[words.index("--private-out") + 1] == "/gcs/bucket/out/private/runs/run-1/training/model"
    assert storage.objects["bucket", "out/private/runs/run-1/training/job-1/train.yaml"] == SETTINGS.encode()
    assert json.loads(storage.objects["bucket", "out/private/runs/run-1/training/marker.json"])["state"] == "submitted"
    assert started.marker.handle.job_id == job["name"]


def test_a_marker_in_a_bucket_is_created_once(storage, vertex, files):
    marker = start_training(RUN, read_order(*files)).marker
    folder = RunFolder("gs://bucket/out", "run-1")
    assert not create_marker(folder, marker)
    assert read_marker(folder) == marker


def test_jobs_shows_follows_and_cancels_it(storage, vertex, files, capsys):
    assert cli.main(["start-training", "--run", RUN, "--config", files[0], "--launch", files[1]]) == 0
    vertex.log_entries.append({"textPayload": "epoch 1"})
    assert cli.main(["jobs", "logs", RUN]) == 0
    assert cli.main(["jobs", "cancel", RUN]) == 0
    assert cli.main(["jobs", "status", "gs://bucket/out", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "epoch 1" in lines
    assert json.loads(lines[-1]) == {
        "run": "run-1",
        "launcher": "vertex",
        "job": "projects/p/locations/europe-west4/customJobs/1",
        "attempt": 1,
        "state": "cancelled",
        "detail": "JOB_STATE_CANCELLED",
        "to_be_trained_anew_since": None,
    }
