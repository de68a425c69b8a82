"""The demo on a real Flink cluster: JobManager, two TaskManagers, worker pool, Beam's job server. `make test-flink`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from flink_cluster import Cluster
from staging_pool import can_build, staging_pool
from whole_runs import DEMO, demo_records, everything, only_run, private_of, sottovoce, write_manifest, write_secret

pytestmark = [
    pytest.mark.flink,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    # workers inside the submitting process lose their cluster at its end; Beam's threads say so aloud
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
PORT, POOL_PORT, STAGING_POOL_PORT = 18081, 50100, 50101
DEMO_JOB = ("--input", DEMO, "--config", DEMO / "job.yaml", "--set", "input.records_per_batch=16")
ON_CLUSTER = (f"--flink_master=127.0.0.1:{PORT}", f"--environment_config=127.0.0.1:{POOL_PORT}")
STARTED = "worker pool: started"


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster("test", PORT, POOL_PORT)
    cluster.down()
    for log in cluster.logs.glob("*"):
        log.unlink()
    cluster.up()
    yield cluster
    cluster.down()


@pytest.fixture(scope="module")
def secret(tmp_path_factory) -> Path:
    return write_secret(tmp_path_factory.mktemp("secret") / "secret")


@pytest.fixture(scope="module")
def local(secret, tmp_path_factory) -> Path:
    """The demo on the local runner."""
    output = tmp_path_factory.mktemp("local")
    sottovoce("sanitize", *DEMO_JOB, "--output", output, "--secret-file", secret)
    return only_run(output)


@pytest.fixture(scope="module")
def on_flink(cluster, secret, tmp_path_factory) -> tuple[Path, int]:
    """The demo on the cluster, and how many worker processes it started."""
    output = tmp_path_factory.mktemp("flink")
    before = workers_started(cluster)
    sottovoce(
        "sanitize", *DEMO_JOB, "--output", output, "--secret-file", secret, "--runner", "flink", "--", *ON_CLUSTER
    )
    return only_run(output), workers_started(cluster) - before


def workers_started(cluster: Cluster) -> int:
    return (cluster.logs / "pool.out").read_text(errors="replace").count(STARTED)


def counts(run: Path) -> dict:
    return json.loads((run / "_COMMITTED.json").read_text())["counts"]


def ask(path: str) -> dict:
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}") as answer:
        return json.load(answer)


def newest_job() -> dict:
    return max(ask("/jobs/overview")["jobs"], key=lambda job: job["start-time"])


def test_every_record_equals_that_of_the_local_run(on_flink, local):
    run, _ = on_flink
    assert everything(run) == everything(local)
    assert counts(run)["rows"] == counts(local)["rows"] and all(counts(run)["rows"].values())
    assert counts(run)["read"] == len(demo_records())


def test_both_taskmanagers_work_on_the_corpus_and_each_worker_loads_its_models_once(on_flink):
    run, workers = on_flink
    assert workers == 2
    assert set(counts(run)["models_loaded"].values()) == {workers}


def test_logs_of_the_cluster_hold_nothing_of_the_corpus(cluster, on_flink, secret):
    logs = b"".join(path.read_bytes() for path in cluster.logs.glob("*"))
    assert b"Job BeamApp" in logs
    planted = {record[key] for record in demo_records() for key in ("text", "dialogue_id")}
    assert not [text for text in planted if text.encode() in logs]
    assert secret.read_bytes() not in logs


def wait_for_staged_audio(process: subprocess.Popen, output: Path) -> None:
    """Staged slices show that the speech stages are in the middle of their work."""
    deadline = time.monotonic() + 900
    while not any(path.stat().st_size for path in output.glob("private/runs/*/work/audio/*")):
        if process.poll() is not None:
            raise AssertionError(f"the run ended before a TaskManager could be killed: {process.stderr.read()[-2000:]}")
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_lost_taskmanager_loses_no_record_and_commits_nothing_early(cluster, local, secret, tmp_path):
    arguments = ["sanitize", *DEMO_JOB, "--output", tmp_path, "--secret-file", secret, "--runner", "flink"]
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", *map(str, arguments), "--", *ON_CLUSTER]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for_staged_audio(process, tmp_path)
    os.kill(cluster.pid("taskmanager-0"), signal.SIGKILL)
    assert not list(tmp_path.glob("*/_COMMITTED.json"))
    cluster.start("taskmanager-0")
    _, error = process.communicate()
    assert ask(f"/jobs/{newest_job()['jid']}/exceptions")["exceptionHistory"]["entries"], "the loss was felt"
    if process.returncode != 0:  # out of restarts: it must say so, and leave nothing that looks finished
        assert "nothing was committed" in error and not list(tmp_path.glob("*/_COMMITTED.json"))
        sottovoce(*arguments, "--", *ON_CLUSTER)
    run = only_run(tmp_path)
    assert everything(run) == everything(local)
    assert counts(run)["rows"] == counts(local)["rows"] and counts(run)["by_reason"] == counts(local)["by_reason"]
    assert not list(run.rglob("*.part")) and not (private_of(run) / "work").exists()


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> tuple:
    """A small text-only job, for ways to run rather than for what is computed."""
    records = [{key: record[key] for key in ("text", "dialogue_id", "turn")} for record in demo_records(24)]
    return ("--input", write_manifest(tmp_path_factory.mktemp("text"), records), "--set", "input.records_per_batch=4")


@pytest.fixture(scope="module")
def text_locally(text, secret, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("text-local")
    sottovoce("sanitize", *text, "--output", output, "--secret-file", secret)
    return only_run(output)


def test_workers_inside_the_submitting_process_give_the_same_records(cluster, text, text_locally, secret, tmp_path):
    flags = ("--output", tmp_path, "--secret-file", secret, "--runner", "flink")
    sottovoce("sanitize", *text, *flags, "--", *ON_CLUSTER, "--environment_type=LOOPBACK", "--environment_config=")
    assert everything(only_run(tmp_path)) == everything(text_locally)


def test_a_crowd_release_is_the_same_on_the_cluster(cluster, secret, tmp_path, monkeypatch):
    """Bounded over speakers, counted, released rung after rung and filled on two TaskManagers. Each execution has noise of its
    own, by a nonce, which is held here: what is compared is everything else."""
    monkeypatch.setattr("sottovoce.transforms.engine.job.secrets", SimpleNamespace(token_hex=lambda size: "one noise"))
    asked = ("what is the news", "please play some music", "now play the music", "so play more music")
    records = [
        {"dialogue_id": f"d{i}-{n}", "speaker_id": f"s{i}", "text": asked[(i + n) % 4], "intent": "ask"}
        for i in range(120) for n in range(2)
    ]  # fmt: skip
    ladder = "{use: crowd, ladder: {full: 0.6, skeleton: 0.4}, utterances_per_speaker: 1}"
    job = ("--input", write_manifest(tmp_path / "in", records), "--set", f"rewrite={ladder}", "--set", "detect=rules",
           "--set", "sinks={slu: 1}", "--set", "input.records_per_batch=16", "--secret-file", secret)  # fmt: skip
    sottovoce("sanitize", *job, "--output", tmp_path / "local")
    sottovoce("sanitize", *job, "--output", tmp_path / "flink", "--runner", "flink", "--", *ON_CLUSTER)
    local, flink = (only_run(tmp_path / name) for name in ("local", "flink"))
    assert everything(flink) == everything(local) and counts(local)["rows"]["slu"] > 20


@pytest.mark.skipif(not can_build(), reason="Beam's boot program is built with Go, which is not here")
def test_workers_without_the_project_get_it_staged(cluster, text, text_locally, secret, tmp_path):
    flags = ("--output", tmp_path / "out", "--secret-file", secret, "--runner", "flink")
    staged = (f"--environment_config=127.0.0.1:{STAGING_POOL_PORT}", f"--setup_file={DEMO.parents[1] / 'setup.py'}")
    (tmp_path / "pool").mkdir()
    with staging_pool(tmp_path / "pool", STAGING_POOL_PORT) as home:
        sottovoce("sanitize", *text, *flags, "--", *ON_CLUSTER, *staged)
        workers = list(home.glob("worker.*"))
    assert everything(only_run(tmp_path / "out")) == everything(text_locally)
    assert workers and all(
        list(worker.glob("env/lib/*/site-packages/sottovoce/transforms/engine/stage.py")) for worker in workers
    )
