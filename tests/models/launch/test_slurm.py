"""Training on Slurm: a real munged, slurmctld and slurmd, from Debian's packages, on this machine."""

import os
import signal
import time
from pathlib import Path

import pytest
import slurm_cluster

from sottovoce.models.errors import RunError
from sottovoce.models.launch import Handle, TrainingJob, name_of
from sottovoce.models.launch.slurm import STATE_OF, Slurm

pytestmark = pytest.mark.slow
needs_slurm = pytest.mark.skipif(
    bool(slurm_cluster.missing()), reason=f"Slurm is not installed: {slurm_cluster.INSTALL}"
)

NOTE = "import os, sys; open(sys.argv[1], 'a').write(os.environ['SLURM_JOB_ID'] + '\\n'); print('said this')\n"


@pytest.fixture(scope="module")
def cluster():
    with slurm_cluster.slurm_cluster() as running, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(running.conf))
        yield running


@pytest.fixture
def launcher() -> Slurm:
    return Slurm(gpus=1, cpus=1, poll_s=0.2)


def make_job(folder: Path, script: str = NOTE) -> TrainingJob:
    (folder / "script.py").write_text(script)
    return TrainingJob(f"{folder.name}", (str(folder / "script.py"), str(folder / "ran")), str(folder / "job"))


def ran(folder: Path) -> list[str]:
    return (folder / "ran").read_text().split() if (folder / "ran").exists() else []


def wait_for_end(launcher: Slurm, handle: Handle) -> str:
    return list(launcher.watch(handle))[-1].state


def wait_for_state(launcher: Slurm, handle: Handle, state: str) -> None:
    for _ in range(300):
        if launcher.status(handle).state == state:
            return
        time.sleep(0.2)
    raise AssertionError(f"the job did not become {state}: {launcher.status(handle)}")


@needs_slurm
def test_a_gpu_job_runs_and_its_words_are_kept(tmp_path, cluster, launcher):
    script = NOTE + "print('GPUs', os.environ['CUDA_VISIBLE_DEVICES'])\n"
    handle = launcher.submit(make_job(tmp_path, script))
    assert wait_for_end(launcher, handle) == "succeeded", launcher.logs(handle)
    assert launcher.logs(handle) == "said this\nGPUs 0\n"
    assert ran(tmp_path) == [handle.job_id]


@needs_slurm
def test_a_job_that_fails_is_told_as_failed(tmp_path, cluster, launcher):
    handle = launcher.submit(make_job(tmp_path, "raise SystemExit(3)"))
    assert wait_for_end(launcher, handle) == "failed"
    assert "FAILED" in launcher.status(handle).detail


@needs_slurm
def test_submitting_twice_finds_the_waiting_the_running_and_the_ended_job(tmp_path, cluster, launcher):
    waits = NOTE + "import time\nwhile not os.path.exists(sys.argv[1] + '-go'): time.sleep(0.1)\n"
    job = make_job(tmp_path, waits)
    first = launcher.submit(job)
    assert launcher.submit(job) == first
    wait_for_state(launcher, first, "running")
    assert launcher.submit(job) == first
    (tmp_path / "ran-go").touch()
    assert wait_for_end(launcher, first) == "succeeded"
    assert launcher.submit(job) == first
    assert ran(tmp_path) == [first.job_id]


@needs_slurm
def test_a_job_that_slurm_has_forgotten_is_found_by_its_claim(tmp_path, cluster, launcher):
    job = make_job(tmp_path)
    first = launcher.submit(job)
    assert wait_for_end(launcher, first) == "succeeded"
    cluster.forget_everything()
    assert launcher.status(first).state == "succeeded"
    assert launcher.submit(job) == first
    assert ran(tmp_path) == [first.job_id]
    # The controller counts from 1 again: a stranger's job with the old number is not taken for ours.
    (tmp_path / "stranger").mkdir()
    stranger = launcher.submit(make_job(tmp_path / "stranger", "raise SystemExit(3)"))
    assert wait_for_end(launcher, stranger) == "failed"
    assert launcher.status(Handle(stranger.job_id, str(tmp_path / "another"))).state == "missing"


@needs_slurm
def test_of_two_jobs_by_mistake_one_trains(tmp_path, cluster, launcher):
    """Two submitters on two hosts may both look before either submits."""
    job = make_job(tmp_path)
    Path(job.folder).mkdir()
    ids = [launcher._sbatch(job), launcher._sbatch(job)]
    handles = [Handle(job_id, job.folder) for job_id in ids]
    assert [wait_for_end(launcher, handle) for handle in handles] == ["succeeded", "succeeded"]
    time.sleep(2)  # the other one, which leaves at once, has a GPU to wait for
    assert len(ran(tmp_path)) == 1


@needs_slurm
@pytest.mark.parametrize("step", ["before sbatch", "after sbatch"])
def test_a_submitter_killed_beside_sbatch_and_repeated_makes_one_job(tmp_path, cluster, launcher, step, monkeypatch):
    job = make_job(tmp_path)
    real = Slurm._sbatch

    def deadly(self: Slurm, job: TrainingJob) -> str:
        if step == "after sbatch":
            real(self, job)
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    pid = os.fork()
    if pid == 0:
        Slurm._sbatch = deadly  # type: ignore[method-assign]
        launcher.submit(job)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    handle = launcher.submit(job)
    assert wait_for_end(launcher, handle) == "succeeded"
    assert ran(tmp_path) == [handle.job_id]


@needs_slurm
def test_cancel_ends_a_running_and_a_waiting_job(tmp_path, cluster, launcher):
    for name in ("runs", "waits"):
        (tmp_path / name).mkdir()
    forever = NOTE + "import time; time.sleep(600)\n"
    runs = launcher.submit(make_job(tmp_path / "runs", forever))
    wait_for_state(launcher, runs, "running")
    waits = launcher.submit(make_job(tmp_path / "waits", forever))
    assert launcher.status(waits).state == "pending"
    for handle in (waits, runs):
        launcher.cancel(handle)
        assert wait_for_end(launcher, handle) == "cancelled"
        launcher.cancel(handle)  # a second time is no error
    assert ran(tmp_path / "waits") == []


@needs_slurm
def test_a_request_that_slurm_refuses_is_told_in_its_words(tmp_path, cluster):
    with pytest.raises(RunError, match="invalid partition"):
        Slurm(partition="nowhere").submit(make_job(tmp_path))


@needs_slurm
def test_the_secret_of_a_run_is_not_handed_to_its_training(tmp_path, cluster, launcher, monkeypatch):
    monkeypatch.setenv("SOTTOVOCE_SECRET", "hidden")
    handle = launcher.submit(make_job(tmp_path, "import os; print('SOTTOVOCE_SECRET' in os.environ)"))
    wait_for_end(launcher, handle)
    assert launcher.logs(handle) == "False\n"


def test_no_slurm_here_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match="login node"):
        Slurm().submit(make_job(tmp_path))


def test_names_that_a_shell_would_read_stay_one_word(tmp_path):
    job = TrainingJob("run 1", ("script.py", "a; rm -rf $HOME 'b'"), "/out/my run")
    line = Slurm(gpus=2, python="python3", set_up=("module load cuda",)).script(job).splitlines()
    assert line[:3] == ["#!/bin/bash", "set -e", "module load cuda"]
    import shlex

    words = shlex.split(line[3].replace('"$SLURM_JOB_ID"', "7"))
    assert words == [
        *["exec", "python3", "-m", "sottovoce.models.launch.run_once", "/out/my run", "7", "--"],
        *["python3", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"],
        *["script.py", "a; rm -rf $HOME 'b'"],
    ]


def test_every_state_maps_to_one_of_ours():
    assert set(STATE_OF.values()) == {"pending", "running", "succeeded", "cancelled"}
    assert len(name_of("x" * 300)) <= 63
