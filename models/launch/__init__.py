"""Start a training job somewhere, at most once per key.

Training twice on the same people spends their privacy twice, so every launcher must find the job that an earlier,
possibly killed, call made under the same key, and return it. Two things make that hold: the back end is asked for a job
of that name before one is made, and the job itself claims its folder before it trains (`run_once`).
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

TABLE = {
    "local": "sottovoce.models.launch.local:Local",
    "slurm": "sottovoce.models.launch.slurm:Slurm",
    "kubernetes": "sottovoce.models.launch.kubernetes:Kubernetes",
    "vertex": "sottovoce.models.launch.vertex:Vertex",
}

State = Literal["pending", "running", "succeeded", "failed", "cancelled", "missing"]
STATES: tuple[State, ...] = get_args(State)
FINAL_STATES = ("succeeded", "failed", "cancelled", "missing")


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """`program` is what Python runs ("-m", "sottovoce.pipelines.cli", "train", ...); `folder` is the job's own."""

    key: str
    program: tuple[str, ...]
    folder: str


@dataclass(frozen=True, slots=True)
class Handle:
    """A started job as its back end knows it."""

    job_id: str
    folder: str


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How a training job stands; `detail` is what its scheduler adds."""

    state: State
    detail: str = ""


class Launcher(Protocol):
    """Runs training jobs somewhere: on this machine, in a queue, in a cluster."""

    @property
    def processes(self) -> int:
        """How many train one job together: one per GPU where there are any."""

    def submit(self, job: TrainingJob) -> Handle:
        """The job of this key: the one already there, or a new one."""

    def status(self, handle: Handle) -> JobStatus:
        """How the job stands now; asked of the back end, so that another process may ask as well."""

    def watch(self, handle: Handle) -> Iterator[JobStatus]:
        """Each change of status, the first one at once, until the job has ended."""

    def logs(self, handle: Handle) -> str:
        """What the job has printed so far; empty when it has printed nothing."""

    def cancel(self, handle: Handle) -> None:
        """Stop the job; no error when it has ended already."""


def name_of(key: str) -> str:
    """A name that every back end accepts (a DNS label), readable, and different for different keys."""
    readable = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:40].strip("-")
    return f"sottovoce-{readable}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def command(job: TrainingJob, processes: int, python: str = sys.executable) -> list[str]:
    """Train in one process, or in several under torchrun."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes > 1 else []
    return [python, *torchrun, *job.program]


def command_once(job: TrainingJob, owner: str, processes: int, python: str = sys.executable) -> list[str]:
    """The same, after the job has claimed its folder as `owner`. Needs a folder that all submitters share."""
    claim = [python, "-m", "sottovoce.models.launch.run_once", job.folder, owner, "--"]
    return [*claim, *command(job, processes, python)]


def clean_environment() -> dict[str, str]:
    """What a job inherits: everything but this program's own variables, the secret of the run among them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}


def poll(launcher: Launcher, handle: Handle, every_s: float) -> Iterator[JobStatus]:
    """`watch` for back ends that only answer questions."""
    last = None
    while True:
        status = launcher.status(handle)
        if status != last:
            yield status
        if status.state in FINAL_STATES:
            return
        last = status
        time.sleep(every_s)
