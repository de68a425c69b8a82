"""Training on Vertex AI: the requests of Google's own client, answered by a stand-in on loopback."""

import os
import signal
import threading
from importlib.util import find_spec

import pytest
from vertex_stand_in import VertexStandIn

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.launch import TrainingJob, name_of
from sottovoce.models.launch.vertex import STATE_OF, Vertex
from sottovoce.models.settings import build

pytestmark = [
    pytest.mark.slow,  # Google's client takes seconds to load
    pytest.mark.skipif(not find_spec("google.cloud.aiplatform_v1"), reason="pip install 'sottovoce[gcp]'"),
]

PROGRAM = ("-m", "sottovoce.pipelines.cli", "train", "--data", "gs://bucket/out/run-1/slu")
JOB = TrainingJob("run-1", PROGRAM, "gs://bucket/out/run-1/training/job-1")


@pytest.fixture
def vertex():
    with VertexStandIn() as stand_in:
        yield stand_in


def launcher(vertex: VertexStandIn, **options) -> Vertex:
    values = {
        "project": "p",
        "image": "image:1",
        "endpoint": vertex.url,
        "logging_endpoint": vertex.url,
        "poll_s": 0.01,
    }
    return build(Vertex, values | options, "launch.vertex")


def test_the_job_asks_for_gpus_reads_the_bucket_and_is_never_retried(vertex):
    handle = launcher(vertex, gpus=2, service_account="train@p.iam").submit(JOB)
    (job,) = vertex.jobs.values()
    assert handle.job_id == job["name"] == "projects/p/locations/europe-west4/customJobs/1"
    assert job["displayName"] == job["labels"]["sottovoce_job"] == name_of("run-1")
    (pool,) = job["jobSpec"]["workerPoolSpecs"]
    assert pool["machineSpec"]["acceleratorCount"] == 2
    assert int(pool["replicaCount"]) == 1
    torchrun = ["python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    train = ["-m", "sottovoce.pipelines.cli", "train", "--data", "/gcs/bucket/out/run-1/slu"]
    assert pool["containerSpec"] == {"imageUri": "image:1", "command": torchrun + train}
    assert job["jobSpec"]["scheduling"] == {"timeout": "86400s", "disableRetries": True}
    assert job["jobSpec"]["serviceAccount"] == "train@p.iam"


def test_submitting_twice_makes_one_job(vertex):
    assert launcher(vertex).submit(JOB) == launcher(vertex).submit(JOB)
    assert len(vertex.jobs) == 1


def test_another_key_makes_another_job(vertex):
    first, second = (launcher(vertex).submit(TrainingJob(key, PROGRAM, JOB.folder)) for key in ("run-1", "run-2"))
    assert first != second


def test_a_submitter_killed_after_its_request_and_repeated_makes_one_job(vertex):
    pid = os.fork()
    if pid == 0:
        Vertex._client, real = lambda self: Deadly(real(self)), Vertex._client

        class Deadly:
            def __init__(self, client):
                self.client = client

            def __getattr__(self, name):
                return getattr(self.client, name)

            def create_custom_job(self, **request):
                self.client.create_custom_job(**request)
                os.kill(os.getpid(), signal.SIGKILL)

        launcher(vertex).submit(JOB)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert launcher(vertex).submit(JOB).job_id in vertex.jobs
    assert len(vertex.jobs) == 1


def test_two_submitters_at_the_same_moment_keep_the_same_job(vertex):
    barrier = threading.Barrier(2)
    vertex.before_list = barrier.wait  # neither is told "none" before the other has asked, nor the result
    handles = []
    threads = [threading.Thread(target=lambda: handles.append(launcher(vertex).submit(JOB))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert handles[0] == handles[1]
    live = [name for name, job in vertex.jobs.items() if job["state"] != "JOB_STATE_CANCELLED"]
    assert len(vertex.jobs) == 2 and live == [handles[0].job_id]


def test_a_job_that_is_not_listed_at_once_is_kept(vertex):
    vertex.hide_from_list = True
    assert launcher(vertex).submit(JOB).job_id in vertex.jobs


def test_status_is_followed_to_the_end(vertex):
    handle = launcher(vertex).submit(JOB)
    states = []
    for status in launcher(vertex).watch(handle):
        states.append(status.state)
        job = vertex.jobs[handle.job_id]
        job["state"] = {"JOB_STATE_PENDING": "JOB_STATE_RUNNING"}.get(job["state"], "JOB_STATE_FAILED")
        job["error"] = {"code": 13, "message": "out of memory"} if job["state"] == "JOB_STATE_FAILED" else {}
    assert states == ["pending", "running", "failed"]
    assert launcher(vertex).status(handle).detail == "out of memory"


def test_a_deleted_job_is_missing(vertex):
    handle = launcher(vertex).submit(JOB)
    vertex.jobs.clear()
    assert launcher(vertex).status(handle).state == "missing"


def test_cancel_stops_the_job_and_leaves_an_ended_one_alone(vertex):
    handle = launcher(vertex).submit(JOB)
    launcher(vertex).cancel(handle)
    assert launcher(vertex).status(handle).state == "cancelled"
    vertex.jobs[handle.job_id]["state"] = "JOB_STATE_SUCCEEDED"
    launcher(vertex).cancel(handle)
    assert launcher(vertex).status(handle).state == "succeeded"


def test_logs_come_from_cloud_logging_oldest_first(vertex):
    handle = launcher(vertex).submit(JOB)
    vertex.log_entries += [{"textPayload": "epoch 1"}, {"jsonPayload": {"message": "epoch 2"}}]
    assert launcher(vertex).logs(handle) == "epoch 1\nepoch 2\n"
    body = vertex.requests[-1][2]
    assert body["filter"] == 'resource.type="ml_job" AND resource.labels.job_id="1"'


def test_a_stand_in_never_sees_credentials(vertex):
    handle = launcher(vertex).submit(JOB)
    launcher(vertex).logs(handle)
    assert not any("Authorization" in headers for _, _, _, headers in vertex.requests)


def test_what_vertex_refuses_and_what_does_not_answer_is_told(vertex):
    vertex.refusal = "no permission aiplatform.customJobs.create"
    with pytest.raises(RunError, match=r"403: .*no permission"):
        launcher(vertex).submit(JOB)
    with pytest.raises(RunError, match=r"no answer|503"):
        launcher(vertex, endpoint="http://127.0.0.1:9").submit(JOB)


def test_an_unknown_accelerator_is_told_with_what_is_allowed(vertex):
    with pytest.raises(SettingsError, match="'NVIDIA_ABACUS' is not known; allowed: NVIDIA_TESLA_K80"):
        launcher(vertex, accelerator="NVIDIA_ABACUS").submit(JOB)
    assert not vertex.jobs


def test_a_run_outside_a_bucket_is_refused(vertex):
    with pytest.raises(RunError, match="gs://"):
        launcher(vertex).submit(TrainingJob("run-1", PROGRAM, "/out/run-1"))


def test_plain_http_leaves_this_machine_never(vertex):
    with pytest.raises(SettingsError, match="endpoint"):
        launcher(vertex, endpoint="http://example.com:80")


def test_every_state_of_vertex_is_known():
    from google.cloud.aiplatform_v1.types import JobState

    assert {state.name for state in JobState} - set(STATE_OF) == {"JOB_STATE_UNSPECIFIED"}
