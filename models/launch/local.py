"""Training on this machine: a process of its own that outlives the command which started it.

The process claims its folder (`run_once`), so a start that was killed between making the process and noting it down is
found by the next one.
"""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname

import psutil

from sottovoce.models.errors import RunError
from sottovoce.models.launch import Handle, JobStatus, TrainingJob, clean_environment, command_once, poll
from sottovoce.models.launch.run_once import GRACE_S, read
from sottovoce.models.settings import require

LOG = "log.txt"


@dataclass(frozen=True)
class Local:
    """`processes` > 1 trains under torchrun, one process per GPU, or over gloo where there are none."""

    processes: int = 1
    start_timeout_s: float = 60.0
    poll_s: float = 1.0

    def __post_init__(self) -> None:
        require(
            (self.processes >= 1, "processes: must be at least 1"),
            (self.start_timeout_s > 0, "start_timeout_s: must be positive"),
            (self.poll_s > 0, "poll_s: must be positive"),
        )

    def submit(self, job: TrainingJob) -> Handle:
        folder = Path(job.folder)
        folder.mkdir(parents=True, exist_ok=True)
        if read(folder, "claim.json") is None:
            self._start(job, folder)
        return Handle(job_id=job.key, folder=job.folder)

    def _start(self, job: TrainingJob, folder: Path) -> None:
        with os.fdopen(os.open(folder / LOG, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab") as log:
            process = subprocess.Popen(
                command_once(job, uuid.uuid4().hex, self.processes),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=clean_environment(),
                start_new_session=True,  # a Ctrl-C or a closed terminal ends the submitter, not the training
            )
        deadline = time.monotonic() + self.start_timeout_s
        while True:
            # Asked before the claim is read: a process that has ended may have lost to another submitter's.
            gave_up = process.poll() is not None or time.monotonic() > deadline
            if read(folder, "claim.json") is not None:
                return
            if gave_up:
                raise RunError(f"the training process did not start; its words are in {folder / LOG}")
            time.sleep(0.02)

    def status(self, handle: Handle) -> JobStatus:
        ended, claim = read(handle.folder, "exit.json"), read(handle.folder, "claim.json")
        if ended is not None:
            return outcome(ended)
        if claim is None:
            return JobStatus("missing", "no process has claimed the job")
        if claim["host"] != gethostname():
            return JobStatus("running", f"as far as is known here: ask on host {claim['host']}")
        if _process(claim) is None:
            # The process may have ended between the two readings.
            ended = read(handle.folder, "exit.json")
            return outcome(ended) if ended else JobStatus("failed", "the process is gone and left no exit code")
        return JobStatus("running", f"process {claim['pid']}")

    def watch(self, handle: Handle) -> Iterator[JobStatus]:
        return poll(self, handle, self.poll_s)

    def logs(self, handle: Handle) -> str:
        return read_log(handle.folder)

    def cancel(self, handle: Handle) -> None:
        claim = read(handle.folder, "claim.json")
        if claim is None or self.status(handle).state != "running":
            return
        if claim["host"] != gethostname():
            raise RunError(f"the job runs on host {claim['host']}: cancel it there")
        process = _process(claim)
        if process is not None:
            process.terminate()
            psutil.wait_procs([process], timeout=GRACE_S + 10)


def read_log(folder: str) -> str:
    """All that the training has printed; empty before there is a log. Bytes that are not UTF-8 are replaced."""
    path = Path(folder) / LOG
    return path.read_text(errors="replace") if path.exists() else ""


def outcome(ended: dict) -> JobStatus:
    """The final status of a job, from what its `exit.json` holds."""
    if ended["cancelled"]:
        return JobStatus("cancelled")
    return JobStatus("succeeded") if ended["code"] == 0 else JobStatus("failed", f"exit code {ended['code']}")


def _process(claim: dict) -> psutil.Process | None:
    """The claiming process, unless it has ended: a later process may have its number, but not its starting time."""
    try:
        process = psutil.Process(claim["pid"])
        same = abs(process.create_time() - claim["began"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    return process if same else None
