"""Training on Kubernetes: a real API server and Job controller on loopback; what runs in the pod is played."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import kubernetes_cluster
import pytest

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.launch import Handle, TrainingJob, name_of
from sottovoce.models.launch.kubernetes import Kubernetes
from sottovoce.models.launch.kubernetes_job import manifest, status_of
from sottovoce.models.settings import build

OPTIONS = {"image": "image:1", "volume_claim": "runs", "mount_path": "/runs"}
PROGRAM = ("-m", "sottovoce.pipelines.cli", "train", "--data", "/runs/run-1/slu")
needs_cluster = pytest.mark.skipif(
    bool(kubernetes_cluster.missing()), reason="no Kubernetes API server is built here: make test-kubernetes"
)


def a_job(key: str) -> TrainingJob:
    return TrainingJob(key, PROGRAM, "/runs/run-1/training/job-1")


@pytest.fixture(scope="module")
def plane():
    with kubernetes_cluster.control_plane() as running:
        yield running


@pytest.fixture(scope="module")
def kubelet(plane):
    played = kubernetes_cluster.Kubelet(plane)
    yield played
    played.close()


@pytest.fixture
def launcher(plane) -> Kubernetes:
    return Kubernetes(**OPTIONS, kubeconfig=str(plane.kubeconfig))


def jobs_of(plane) -> list[str]:
    from kubernetes.client import BatchV1Api

    return [job.metadata.name for job in BatchV1Api(plane.client()).list_namespaced_job("default").items]


@needs_cluster
@pytest.mark.slow
class TestAgainstARealApiServer:
    def test_a_job_with_gpus_is_accepted_followed_and_succeeds(self, launcher, kubelet):
        handle = replace(launcher, gpus=2, node_selector={"gpu": "a100"}).submit(a_job("succeeds"))
        seen = []
        watching = threading.Thread(target=lambda: seen.extend(s.state for s in launcher.watch(handle)))
        watching.start()
        pod = kubelet.take_pod(name_of("succeeds"))
        assert pod.spec.containers[0].resources.limits["nvidia.com/gpu"] == "2"
        kubelet.say(pod, "Running")
        kubernetes_cluster.wait_until(lambda: "running" in seen, "running", lambda: str(seen))
        kubelet.log = "epoch 1\n"
        assert launcher.logs(handle) == "epoch 1\n"
        kubelet.say(pod, "Succeeded", exit_code=0)
        watching.join(60)
        assert seen[0] == "pending" and seen[-1] == "succeeded" and "running" in seen

    def test_a_pod_that_fails_is_not_tried_again(self, launcher, kubelet, plane):
        from kubernetes.client import CoreV1Api

        handle = launcher.submit(a_job("fails"))
        kubelet.say(kubelet.take_pod(name_of("fails")), "Failed", exit_code=1)
        assert [status.state for status in launcher.watch(handle)][-1] == "failed"
        pods = CoreV1Api(plane.client()).list_namespaced_pod("default", label_selector=f"job-name={name_of('fails')}")
        assert len(pods.items) == 1

    def test_submitting_twice_takes_the_first_job(self, launcher, plane):
        assert launcher.submit(a_job("twice")) == launcher.submit(a_job("twice"))
        assert jobs_of(plane).count(name_of("twice")) == 1

    def test_a_submitter_killed_after_its_request_and_repeated_makes_one_job(self, launcher, plane):
        code = (
            "import os, signal\n"
            "from sottovoce.models.launch import TrainingJob\n"
            "from sottovoce.models.launch.kubernetes import Kubernetes\n"
            f"Kubernetes(**{OPTIONS!r}, kubeconfig={str(plane.kubeconfig)!r}).submit({a_job('killed')!r})\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == -signal.SIGKILL
        assert launcher.submit(a_job("killed")).job_id == f"default/{name_of('killed')}"
        assert jobs_of(plane).count(name_of("killed")) == 1

    def test_a_job_of_the_same_name_that_is_not_ours_is_refused(self, launcher, plane):
        from kubernetes.client import BatchV1Api

        body = manifest(launcher, a_job("taken"))
        del body["metadata"]["annotations"]
        BatchV1Api(plane.client()).create_namespaced_job("default", body)
        with pytest.raises(RunError, match="not ours"):
            launcher.submit(a_job("taken"))

    def test_cancel_deletes_the_job_and_its_pod(self, launcher, kubelet, plane):
        from kubernetes.client import CoreV1Api

        handle = launcher.submit(a_job("cancelled"))
        core = CoreV1Api(plane.client())
        selector = f"job-name={name_of('cancelled')}"

        def pods() -> list:
            return core.list_namespaced_pod("default", label_selector=selector).items

        kubernetes_cluster.wait_until(pods, "the pod", plane.words)
        assert launcher.logs(handle) == ""
        states = launcher.watch(handle)
        assert next(states).state == "pending"
        launcher.cancel(handle)
        assert list(states)[-1].state == "missing"
        launcher.cancel(handle)  # a second time is no error
        kubernetes_cluster.wait_until(lambda: not pods(), "the end of the pod", plane.words)

    def test_the_field_that_the_server_refuses_is_named(self, launcher):
        with pytest.raises(RunError, match=r"422.*cpu|400.*quantit"):
            replace(launcher, cpu="four").submit(a_job("refused"))
        with pytest.raises(RunError, match="404"):
            replace(launcher, namespace="nowhere").submit(a_job("refused"))


def test_the_pod_claims_its_folder_before_it_trains():
    body = manifest(Kubernetes(**OPTIONS, gpus=2), TrainingJob("k", ("x.py", "$(HOME)"), "/runs/job"))
    (container,) = body["spec"]["template"]["spec"]["containers"]
    assert container["command"] == [
        *["python", "-m", "sottovoce.models.launch.run_once", "/runs/job", "$(POD_UID)", "--"],
        *["python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "x.py", "$$(HOME)"],
    ]
    assert body["spec"]["backoffLimit"] == 0


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (None, "pending"),
        ({"active": 1}, "pending"),
        ({"active": 1, "ready": 1}, "running"),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, "succeeded"),
        ({"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}, "failed"),
        ({"conditions": [{"type": "Failed", "status": "False"}], "ready": 1}, "running"),
    ],
)
def test_state_of_a_job(status, state):
    assert status_of({"status": status}).state == state


def test_a_run_outside_the_volume_is_refused():
    with pytest.raises(RunError, match="mount_path"):
        Kubernetes(**OPTIONS).submit(TrainingJob("k", PROGRAM, "/runs-elsewhere/job"))


@pytest.mark.slow
def test_no_cluster_and_no_answer_are_said(tmp_path):
    with pytest.raises(RunError, match="no access to a cluster"):
        Kubernetes(**OPTIONS, kubeconfig=str(tmp_path / "none")).status(Handle("default/x", "/runs"))
    dead = kubernetes_cluster.ControlPlane(tmp_path)
    certificate = tmp_path / "none.crt"
    dead.kubeconfig.write_text(dead._kubeconfig(certificate).replace("https", "http"))
    with pytest.raises(RunError, match="does not answer"):
        Kubernetes(**OPTIONS, kubeconfig=str(dead.kubeconfig)).status(Handle("default/x", "/runs"))


def test_settings_name_what_is_missing():
    with pytest.raises(SettingsError) as error:
        build(Kubernetes, {}, "launch.kubernetes")
    assert len(error.value.problems) == 3
