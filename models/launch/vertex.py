"""Training on Vertex AI: one CustomJob, found again by a label made from the key.

Vertex has no idempotency key. A job is looked for by its label before one is made, and looked for again afterwards: of
two submitters at the same moment both keep the earliest job, and the later one is cancelled. The run lives in a bucket,
which Vertex mounts: gs://bucket/x is /gcs/bucket/x in the container.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sottovoce.models.errors import RunError
from sottovoce.models.launch import Handle, JobStatus, State, TrainingJob, command, name_of, poll
from sottovoce.models.launch.vertex_api import asking, check_accelerator, job_client, read_log
from sottovoce.models.settings import require

LABEL = "sottovoce_job"
LOG_LINES = 1000
STATE_OF: dict[str, State] = {
    "JOB_STATE_QUEUED": "pending",
    "JOB_STATE_PENDING": "pending",
    "JOB_STATE_RUNNING": "running",
    "JOB_STATE_UPDATING": "running",
    "JOB_STATE_PAUSED": "running",
    "JOB_STATE_CANCELLING": "running",
    "JOB_STATE_SUCCEEDED": "succeeded",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "failed",
    "JOB_STATE_FAILED": "failed",
    "JOB_STATE_EXPIRED": "failed",
    "JOB_STATE_CANCELLED": "cancelled",
}


@dataclass(frozen=True)
class Vertex:
    """`endpoint` and `logging_endpoint` are for a stand-in on this machine; leave them out to reach Google."""

    project: str
    image: str
    region: str = "europe-west4"
    machine_type: str = "n1-standard-8"
    accelerator: str = "NVIDIA_TESLA_T4"
    gpus: int = 1
    disk_gb: int = 100
    timeout_h: int = 24
    python: str = "python"
    service_account: str | None = None
    endpoint: str | None = None
    logging_endpoint: str | None = None
    poll_s: float = 20.0

    def __post_init__(self) -> None:
        plain = [url for url in (self.endpoint, self.logging_endpoint) if url and not url.startswith("https://")]
        require(
            (bool(self.project), "project: must name a Google Cloud project"),
            (bool(self.image), "image: must name a container image that has sottovoce installed"),
            (self.gpus >= 0, "gpus: must not be negative"),
            (self.timeout_h >= 1, "timeout_h: must be at least 1"),
            (self.poll_s > 0, "poll_s: must be positive"),
            (all(url.startswith("http://127.0.0.1:") for url in plain), "endpoint: must be https or http://127.0.0.1:"),
        )

    @property
    def processes(self) -> int:
        return max(1, self.gpus)

    def submit(self, job: TrainingJob) -> Handle:
        if not job.folder.startswith("gs://"):
            raise RunError("the run is not in a bucket (gs://...): Vertex could not read it")
        with asking():
            client = self._client()
            check_accelerator(self.accelerator)
            job_id = self._find(client, job)
            if job_id is None:
                made = client.create_custom_job(parent=self._parent, custom_job=self.request(job)).name
                job_id = self._find(client, job) or made  # a new job may not be listed at once
                if job_id != made:
                    client.cancel_custom_job(name=made)
        return Handle(job_id=job_id, folder=job.folder)

    def _find(self, client: Any, job: TrainingJob) -> str | None:
        request = {"parent": self._parent, "filter": f"labels.{LABEL}={name_of(job.key)}"}
        listed = client.list_custom_jobs(request=request)
        first = min(listed, key=lambda found: (found.create_time, found.name), default=None)
        return first.name if first else None

    def request(self, job: TrainingJob) -> dict[str, Any]:
        """The CustomJob as the API takes it: one machine, no retry, paths of the bucket as the container sees them."""
        machine: dict[str, Any] = {"machine_type": self.machine_type}
        if self.gpus:
            machine |= {"accelerator_type": self.accelerator, "accelerator_count": self.gpus}
        pool = {
            "machine_spec": machine,
            "replica_count": 1,
            "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": self.disk_gb},
            "container_spec": {
                "image_uri": self.image,
                "command": [mounted(word) for word in command(job, self.processes, self.python)],
            },
        }
        specification: dict[str, Any] = {
            "worker_pool_specs": [pool],
            # A retry by Vertex would train again outside the privacy count.
            "scheduling": {"timeout": {"seconds": self.timeout_h * 3600}, "disable_retries": True},
        }
        if self.service_account:
            specification["service_account"] = self.service_account
        name = name_of(job.key)
        return {"display_name": name, "labels": {LABEL: name}, "job_spec": specification}

    def status(self, handle: Handle) -> JobStatus:
        with asking():
            from google.api_core.exceptions import NotFound

            try:
                job = self._client().get_custom_job(name=handle.job_id)
            except NotFound:
                return JobStatus("missing", f"Vertex knows no {handle.job_id}")
        return JobStatus(STATE_OF.get(job.state.name, "pending"), job.error.message or job.state.name)

    def watch(self, handle: Handle) -> Iterator[JobStatus]:
        return poll(self, handle, self.poll_s)

    def logs(self, handle: Handle) -> str:
        """From Cloud Logging, where Vertex puts what a container prints."""
        with asking():
            return read_log(self.project, handle.job_id.rpartition("/")[2], LOG_LINES, self.logging_endpoint)

    def cancel(self, handle: Handle) -> None:
        if self.status(handle).state in ("pending", "running"):
            with asking():
                self._client().cancel_custom_job(name=handle.job_id)

    @property
    def _parent(self) -> str:
        return f"projects/{self.project}/locations/{self.region}"

    def _client(self) -> Any:
        return job_client(self.region, self.endpoint)


def mounted(word: str) -> str:
    """An address in a bucket as the container sees it."""
    return f"/gcs/{word.removeprefix('gs://')}" if word.startswith("gs://") else word
