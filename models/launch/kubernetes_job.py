"""The Job that Kubernetes is asked for, and how its state reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sottovoce.models.launch import JobStatus, TrainingJob, command_once, name_of

if TYPE_CHECKING:
    from sottovoce.models.launch.kubernetes import Kubernetes

KEY_ANNOTATION = "sottovoce/key"
LABELS = {"app.kubernetes.io/name": "sottovoce", "app.kubernetes.io/component": "training"}


def manifest(settings: Kubernetes, job: TrainingJob) -> dict[str, Any]:
    """The Job as the API takes it: one pod, tried once, for a second training would spend people's privacy twice."""
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,  # training asks nothing of the API server
        "containers": [_container(settings, job)],
        "volumes": [
            {"name": "runs", "persistentVolumeClaim": {"claimName": settings.volume_claim}},
            # torch's worker processes share tensors here; the usual 64 MB is too small.
            {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        ],
    }
    if settings.service_account:
        pod["serviceAccountName"] = settings.service_account
    if settings.node_selector:
        pod["nodeSelector"] = dict(settings.node_selector)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name_of(job.key), "labels": LABELS, "annotations": {KEY_ANNOTATION: job.key}},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def _container(settings: Kubernetes, job: TrainingJob) -> dict[str, Any]:
    amounts = {"cpu": settings.cpu, "memory": settings.memory}
    if settings.gpus:
        amounts[settings.gpu_resource] = str(settings.gpus)
    # A pod's command expands $(NAME): a dollar of the operator's own is doubled so that it stays one.
    words = [word.replace("$", "$$") for word in command_once(job, "OWNER", settings.processes, settings.python)]
    return {
        "name": "train",
        "image": settings.image,
        "command": ["$(POD_UID)" if word == "OWNER" else word for word in words],
        "env": [{"name": "POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}],
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "runs", "mountPath": settings.mount_path},
            {"name": "shared-memory", "mountPath": "/dev/shm"},
        ],
    }


def status_of(job: Mapping[str, Any]) -> JobStatus:
    """The state of a Job as the API's client gives it (`to_dict`)."""
    status = job["status"] or {}
    for condition in status.get("conditions") or []:
        if condition["status"] == "True" and condition["type"] in ("Complete", "Failed"):
            reason = condition.get("reason") or ""
            return JobStatus("succeeded") if condition["type"] == "Complete" else JobStatus("failed", reason)
    if status.get("ready"):
        return JobStatus("running")
    return JobStatus("pending", "its pod is not ready" if status.get("active") else "no pod yet")
