"""Training on Kubernetes: one Job, whose name is made from the key.

The API server creates a name once: the second request gets 409 and the first Job is taken. Kubernetes may start a Job's
pod twice (a node that was lost and comes back), so the pod claims its folder first; the claim needs a volume that
outlives the pod, as do the data and the model. No pod is retried: `start-training --retry` resumes from the checkpoint
and its privacy count.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.errors import RunError
from sottovoce.models.launch import FINAL_STATES, Handle, JobStatus, TrainingJob
from sottovoce.models.launch.kubernetes_job import KEY_ANNOTATION, manifest, status_of
from sottovoce.models.settings import require

WATCH_S = 300  # the server ends a watch; a new one begins where the Job stands
# Answers of a server that is behind its own store, or busy: the watch is begun again, after a while.
WATCH_AGAIN, WATCH_PAUSE_S = (429, 503, 504), 2.0


@dataclass(frozen=True)
class Kubernetes:
    """`volume_claim` is mounted at `mount_path`, which must hold the run under the same path as here.

    Inside a cluster the pod's service account is used; elsewhere the kubeconfig: `kubeconfig`, or the usual one.
    """

    image: str
    volume_claim: str
    mount_path: str
    namespace: str = "default"
    gpus: int = 1
    gpu_resource: str = "nvidia.com/gpu"
    cpu: str = "4"
    memory: str = "16Gi"
    python: str = "python"
    service_account: str | None = None
    node_selector: dict[str, str] = field(default_factory=dict)
    kubeconfig: str | None = None
    context: str | None = None

    def __post_init__(self) -> None:
        require(
            (bool(self.image), "image: must name a container image that has sottovoce installed"),
            (self.mount_path.startswith("/"), "mount_path: must be an absolute path"),
            (self.gpus >= 0, "gpus: must not be negative"),
        )

    @property
    def processes(self) -> int:
        return max(1, self.gpus)

    def submit(self, job: TrainingJob) -> Handle:
        if not f"{job.folder}/".startswith(f"{self.mount_path.rstrip('/')}/"):
            raise RunError(f"the run is not under mount_path {self.mount_path}: the pod could not read it")
        body = manifest(self, job)
        name = body["metadata"]["name"]
        with _asking() as ask:
            try:
                self._batch().create_namespaced_job(self.namespace, body)
            except ask.ApiException as error:
                if error.status != 409:
                    raise
                found = self._batch().read_namespaced_job(name, self.namespace)
                if (found.metadata.annotations or {}).get(KEY_ANNOTATION) != job.key:
                    raise RunError(f"Job {name} exists in namespace {self.namespace} and is not ours") from None
        return Handle(job_id=f"{self.namespace}/{name}", folder=job.folder)

    def status(self, handle: Handle) -> JobStatus:
        namespace, name = handle.job_id.split("/")
        with _asking() as ask:
            try:
                return status_of(self._batch().read_namespaced_job(name, namespace).to_dict())
            except ask.ApiException as error:
                if error.status != 404:
                    raise
                return JobStatus("missing", f"no Job {name} in namespace {namespace}")

    def watch(self, handle: Handle) -> Iterator[JobStatus]:
        """By the API's own watch: a change is told when it happens, and nothing is asked in between.

        Every watch begins with a question: a job that was deleted between two watches is in no event of the second.
        """
        last = None
        while last is None or last.state not in FINAL_STATES:
            for now in itertools.chain([self.status(handle)], self._events(handle)):
                if now != last:
                    yield now
                last = now
                if now.state in FINAL_STATES:
                    return

    def _events(self, handle: Handle) -> Iterator[JobStatus]:
        from kubernetes.watch import Watch

        namespace, name = handle.job_id.split("/")
        only = {"field_selector": f"metadata.name={name}", "timeout_seconds": WATCH_S}
        with _asking() as ask:
            try:
                for event in Watch().stream(self._batch().list_namespaced_job, namespace, **only):
                    deleted = event["type"] == "DELETED"
                    yield JobStatus("missing", "deleted") if deleted else status_of(event["object"].to_dict())
            except ask.ApiException as error:
                if error.status not in WATCH_AGAIN:
                    raise
                time.sleep(WATCH_PAUSE_S)

    def logs(self, handle: Handle) -> str:
        namespace, name = handle.job_id.split("/")
        with _asking() as ask:
            core = ask.CoreV1Api(self._client())
            pods = core.list_namespaced_pod(namespace, label_selector=f"job-name={name}").items
            started = [pod for pod in pods if pod.status.phase != "Pending"]
            return "".join(core.read_namespaced_pod_log(pod.metadata.name, namespace) for pod in started)

    def cancel(self, handle: Handle) -> None:
        namespace, name = handle.job_id.split("/")
        with _asking() as ask:
            try:
                self._batch().delete_namespaced_job(name, namespace, propagation_policy="Background")
            except ask.ApiException as error:
                if error.status != 404:
                    raise

    def _batch(self) -> Any:
        from kubernetes.client import BatchV1Api

        return BatchV1Api(self._client())

    def _client(self) -> Any:
        from kubernetes.client import ApiClient, Configuration
        from kubernetes.config import ConfigException, load_config

        configuration = Configuration()
        try:
            load_config(config_file=self.kubeconfig, context=self.context, client_configuration=configuration)
        except ConfigException as error:
            raise RunError(f"kubernetes: no access to a cluster: {error}") from None
        return ApiClient(configuration)


@contextmanager
def _asking() -> Iterator[Any]:
    """The client library, with the API server's refusals told in its own words, which name the field at fault."""
    try:
        import kubernetes.client as client
        from urllib3.exceptions import HTTPError
    except ImportError:
        raise RunError("the Kubernetes client is missing: pip install 'sottovoce[kubernetes]'") from None
    try:
        yield client
    except client.ApiException as error:
        try:
            words = json.loads(error.body or "")["message"]
        except (TypeError, ValueError, KeyError):
            words = error.reason
        raise RunError(f"kubernetes: {error.status}: {words}") from None
    except HTTPError as error:
        raise RunError(f"kubernetes: the API server does not answer ({type(error).__name__})") from None
