"""Training on this machine, with real processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.launch import Handle, TrainingJob
from sottovoce.models.launch.local import Local
from sottovoce.models.launch.run_once import EXIT_CLAIMED, read

pytestmark = pytest.mark.slow

RECORD_AND_END = "import os, sys; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); print('said this'); sys.exit(CODE)"
RECORD_AND_WAIT = "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); time.sleep(600)"
ALL_REDUCE = """
import os, sys
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
if dist.get_rank() == 0:
    open(sys.argv[1], "a").write(f"{dist.get_world_size()} {total.item()}\\n")
dist.destroy_process_group()
"""


@pytest.fixture
def launcher() -> Local:
    return Local(poll_s=0.05)


def make_job(folder: Path, script: str) -> TrainingJob:
    folder.mkdir(exist_ok=True)
    (folder / "script.py").write_text(script)
    program = (str(folder / "script.py"), str(folder / "ran"))
    return TrainingJob(key="run-1", program=program, folder=str(folder / "job"))


def wait_for_end(launcher: Local, handle: Handle) -> str:
    return list(launcher.watch(handle))[-1].state


def wait_for_line(path: Path) -> int:
    for _ in range(1200):
        if path.exists() and path.read_text().endswith("\n"):
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError("the job did not run")


def test_job_runs_and_its_words_are_kept(tmp_path, launcher):
    handle = launcher.submit(make_job(tmp_path, RECORD_AND_END.replace("CODE", "0")))
    assert wait_for_end(launcher, handle) == "succeeded"
    assert "said this" in launcher.logs(handle)


def test_exit_code_of_a_failed_job_is_told(tmp_path, launcher):
    handle = launcher.submit(make_job(tmp_path, RECORD_AND_END.replace("CODE", "3")))
    assert wait_for_end(launcher, handle) == "failed"
    assert "3" in launcher.status(handle).detail


def test_submitting_twice_runs_once(tmp_path, launcher):
    job = make_job(tmp_path, RECORD_AND_END.replace("CODE", "0"))
    first = launcher.submit(job)
    wait_for_end(launcher, first)
    assert launcher.submit(job) == first
    assert len((tmp_path / "ran").read_text().split()) == 1


def test_eight_submitters_at_once_start_one_job(tmp_path, launcher):
    job = make_job(tmp_path, RECORD_AND_END.replace("CODE", "0"))
    submit = (
        "import sys; from sottovoce.models.launch import TrainingJob; from sottovoce.models.launch.local import Local\n"
        f"Local().submit(TrainingJob({job.key!r}, {job.program!r}, {job.folder!r}))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", submit]) for _ in range(8)]
    assert [process.wait() for process in processes] == [0] * 8
    wait_for_end(launcher, Handle(job.key, job.folder))
    time.sleep(0.5)  # a second job, were there one, would have written by now
    assert len((tmp_path / "ran").read_text().split()) == 1


def test_the_loser_of_a_claim_says_so_and_runs_nothing(tmp_path, launcher):
    job = make_job(tmp_path, RECORD_AND_END.replace("CODE", "0"))
    wait_for_end(launcher, launcher.submit(job))
    late = [sys.executable, "-m", "sottovoce.models.launch.run_once", job.folder, "late", "--", sys.executable]
    assert subprocess.run([*late, *job.program], check=False).returncode == EXIT_CLAIMED
    assert len((tmp_path / "ran").read_text().split()) == 1


def test_cancel_ends_the_process_and_all_it_started(tmp_path, launcher):
    handle = launcher.submit(make_job(tmp_path, RECORD_AND_WAIT))
    pid = wait_for_line(tmp_path / "ran")
    assert launcher.status(handle).state == "running"
    launcher.cancel(handle)
    assert launcher.status(handle).state == "cancelled"
    assert not psutil.pid_exists(pid)
    launcher.cancel(handle)  # a second time is no error


def test_a_killed_job_is_failed_not_running(tmp_path, launcher):
    handle = launcher.submit(make_job(tmp_path, RECORD_AND_WAIT))
    pid = wait_for_line(tmp_path / "ran")
    claim = read(handle.folder, "claim.json")
    os.kill(claim["pid"], 9)
    os.kill(pid, 9)
    assert wait_for_end(launcher, handle) == "failed"


def test_a_program_that_cannot_start_is_an_error(tmp_path, launcher, monkeypatch):
    monkeypatch.setattr(
        "sottovoce.models.launch.local.command_once", lambda *_: [sys.executable, "-c", "raise SystemExit(2)"]
    )
    with pytest.raises(RunError, match="did not start"):
        launcher.submit(make_job(tmp_path, ""))


def test_the_secret_of_a_run_is_not_handed_to_its_training(tmp_path, launcher, monkeypatch):
    monkeypatch.setenv("SOTTOVOCE_SECRET", "hidden")
    handle = launcher.submit(make_job(tmp_path, "import os; print('SOTTOVOCE_SECRET' in os.environ)"))
    wait_for_end(launcher, handle)
    assert launcher.logs(handle) == "False\n"


@pytest.mark.slow
@pytest.mark.long
def test_two_processes_train_together_under_torchrun(tmp_path):
    launcher = Local(processes=2, poll_s=0.2)
    handle = launcher.submit(make_job(tmp_path, ALL_REDUCE))
    assert wait_for_end(launcher, handle) == "succeeded", launcher.logs(handle)
    assert (tmp_path / "ran").read_text() == "2 3.0\n"


@pytest.mark.slow
@pytest.mark.long
def test_cancel_ends_the_workers_of_torchrun(tmp_path):
    launcher = Local(processes=2, poll_s=0.2)
    handle = launcher.submit(
        make_job(tmp_path, RECORD_AND_WAIT.replace("sys.argv[1]", "sys.argv[1] + os.environ['RANK']"))
    )
    pids = [wait_for_line(tmp_path / f"ran{rank}") for rank in (0, 1)]
    launcher.cancel(handle)
    assert launcher.status(handle).state == "cancelled"
    assert not any(psutil.pid_exists(pid) for pid in pids)
