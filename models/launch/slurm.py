"""Training on a Slurm cluster: one `sbatch` job with GPUs, on a file system that the nodes share.

Slurm has no idempotency key, and without an accounting database it forgets a job minutes after its end. So a job is
looked for in two places: the queue, by its name, for a job that waits or runs; and the claim in its folder, which the
job makes when it starts, for one that Slurm has forgotten.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sottovoce.models.errors import RunError
from sottovoce.models.launch import (
    Handle,
    JobStatus,
    State,
    TrainingJob,
    clean_environment,
    command_once,
    name_of,
    poll,
)
from sottovoce.models.launch.local import LOG, outcome, read_log
from sottovoce.models.launch.run_once import read
from sottovoce.models.settings import require

OWNER_ONLY = 0o077
STATE_OF: dict[str, State] = {
    "PENDING": "pending",
    "CONFIGURING": "pending",
    "REQUEUED": "pending",
    "REQUEUE_HOLD": "pending",
    "SPECIAL_EXIT": "pending",
    "RUNNING": "running",
    "COMPLETING": "running",
    "SUSPENDED": "running",
    "STOPPED": "running",
    "SIGNALING": "running",
    "STAGE_OUT": "running",
    "RESIZING": "running",
    "COMPLETED": "succeeded",
    "CANCELLED": "cancelled",
    "REVOKED": "cancelled",
}  # every other state of squeue (FAILED, TIMEOUT, OUT_OF_MEMORY, NODE_FAIL, ...) is a failure


@dataclass(frozen=True)
class Slurm:
    """`set_up` lines run before the training (module load, source ...); `python` is the interpreter on the nodes."""

    gpus: int = 1
    cpus: int = 4
    memory: str | None = None
    partition: str | None = None
    account: str | None = None
    time_limit: str | None = None
    python: str = sys.executable
    set_up: tuple[str, ...] = ()
    more_options: tuple[str, ...] = ()
    poll_s: float = 5.0

    def __post_init__(self) -> None:
        require(
            (self.gpus >= 0, "gpus: must not be negative"),
            (self.cpus >= 1, "cpus: must be at least 1"),
            (self.poll_s > 0, "poll_s: must be positive"),
        )

    @property
    def processes(self) -> int:
        return max(1, self.gpus)

    def submit(self, job: TrainingJob) -> Handle:
        Path(job.folder).mkdir(parents=True, exist_ok=True)
        job_id = _claimed_by(job.folder) or self._queued(job) or self._sbatch(job)
        return Handle(job_id=job_id, folder=job.folder)

    def _queued(self, job: TrainingJob) -> str | None:
        """The first job of this name that the controller knows, ended ones included."""
        listed = _slurm(["squeue", "--me", "--noheader", "--states=all", f"--name={name_of(job.key)}", "--format=%A"])
        return min(listed.split(), key=int, default=None)

    def _sbatch(self, job: TrainingJob) -> str:
        options = {
            "job-name": name_of(job.key),
            "comment": job.folder,
            "output": str(Path(job.folder) / LOG),
            "ntasks": "1",
            "cpus-per-task": str(self.cpus),
            "gres": f"gpu:{self.gpus}" if self.gpus else None,
            "mem": self.memory,
            "partition": self.partition,
            "account": self.account,
            "time": self.time_limit,
        }
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        # Requeueing is left to `start-training --retry`, which resumes from the checkpoint and its privacy count.
        answer = _slurm(["sbatch", "--parsable", "--no-requeue", *given, *self.more_options], self.script(job))
        return answer.strip().partition(";")[0]  # "id;cluster" on a federation

    def script(self, job: TrainingJob) -> str:
        """What `sbatch` is given: the set-up lines, then the training, which claims its folder under the id of the Slurm job."""
        training = command_once(job, "OWNER", self.processes, self.python)
        line = " ".join('"$SLURM_JOB_ID"' if word == "OWNER" else shlex.quote(word) for word in training)
        return "\n".join(["#!/bin/bash", "set -e", *self.set_up, f"exec {line}", ""])

    def status(self, handle: Handle) -> JobStatus:
        job_id = _claimed_by(handle.folder) or handle.job_id
        known = self._ask_controller(job_id, handle.folder)
        if known is not None:
            return known
        ended = read(handle.folder, "exit.json")
        if ended is not None:
            return outcome(ended)
        if _claimed_by(handle.folder):
            return JobStatus("failed", "Slurm has forgotten the job, and it left no exit code")
        return JobStatus("missing", f"Slurm knows no job {job_id}, and it never started")

    def _ask_controller(self, job_id: str, folder: str) -> JobStatus | None:
        # squeue refuses an id that has aged out; a list of all one's jobs does not. The folder is compared because a
        # controller that lost its state counts from 1 again.
        listed = _slurm(["squeue", "--me", "--noheader", "--states=all", "--format=%A|%T|%r|%k"])
        for line in listed.splitlines():
            listed_id, state, reason, comment = line.strip().split("|", 3)
            if (listed_id, comment) == (job_id, folder):
                mapped = STATE_OF.get(state, "failed")
                return JobStatus(mapped, "" if mapped == "succeeded" else f"{state}, {reason}")
        return None

    def watch(self, handle: Handle) -> Iterator[JobStatus]:
        return poll(self, handle, self.poll_s)

    def logs(self, handle: Handle) -> str:
        return read_log(handle.folder)

    def cancel(self, handle: Handle) -> None:
        if self.status(handle).state in ("pending", "running"):
            _slurm(["scancel", _claimed_by(handle.folder) or handle.job_id])


def _claimed_by(folder: str) -> str | None:
    claim = read(folder, "claim.json")
    return claim["owner"] if claim else None


def _slurm(command: list[str], script: str | None = None) -> str:
    try:
        # Slurm makes the log of a job under the umask of its submitter: what a training prints is for its owner.
        answer = subprocess.run(
            command,
            input=script,
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment(),
            check=False,
            umask=OWNER_ONLY,
        )
    except FileNotFoundError:
        raise RunError(f"{command[0]} is not on this machine: start from a login node of the cluster") from None
    except subprocess.TimeoutExpired:
        raise RunError(f"{command[0]} did not answer in 60 s: is slurmctld up?") from None
    if answer.returncode != 0:
        raise RunError(f"{command[0]} failed: {answer.stderr.strip()}")
    return answer.stdout
