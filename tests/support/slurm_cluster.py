"""A Slurm cluster of one node on this machine: real munged, slurmctld and slurmd, all their files in one folder."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopback import free_ports

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
INSTALL = "apt-get install --no-install-recommends slurm-wlm munge"
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"


def missing() -> list[str]:
    return [program for program in NEEDED if not shutil.which(program, path=PATH)]


class Cluster:
    def __init__(self, folder: Path):
        self.folder = folder
        self.conf = folder / "slurm.conf"
        self._daemons: dict[str, subprocess.Popen] = {}

    def start(self) -> None:
        (self.folder / "key").write_bytes(os.urandom(128))
        (self.folder / "key").chmod(0o600)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        # /dev/null stands in for the device file of a GPU.
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
        self.conf.write_text(self._configuration())
        files = {"socket": "munge.socket", "key-file": "key", "log-file": "munge.log", "pid-file": "munge.pid"}
        options = [f"--{name}={self.folder / file}" for name, file in (files | {"seed-file": "seed"}).items()]
        self._start("munged", "--foreground", "--force", *options)
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged")
        self._start("slurmctld", "-D")
        self._start("slurmd", "-D")
        self._wait(self._is_idle, "slurmctld and slurmd")

    def forget_everything(self) -> None:
        """The controller starts anew without its state: what it does to one job when the job has aged out."""
        self._stop("slurmctld")
        self._start("slurmctld", "-D", "-c")
        self._wait(self._is_idle, "slurmctld")

    def stop(self) -> None:
        for name in reversed(list(self._daemons)):
            self._stop(name)

    def _start(self, program: str, *options: str) -> None:
        log = (self.folder / f"{program}.out").open("ab")
        binary = shutil.which(program, path=PATH)
        assert binary
        environment = os.environ | {"SLURM_CONF": str(self.conf)}
        self._daemons[program] = subprocess.Popen([binary, *options], env=environment, stdout=log, stderr=log)
        log.close()

    def _stop(self, program: str) -> None:
        daemon = self._daemons.pop(program)
        daemon.terminate()
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def _is_idle(self) -> bool:
        environment = os.environ | {"SLURM_CONF": str(self.conf)}
        answer = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True)
        return answer.stdout.strip() in ("idle", "mixed", "allocated")

    def _wait(self, ready, what: str) -> None:
        for _ in range(600):
            if ready():
                return
            time.sleep(0.1)
        words = "".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.out"))
        raise AssertionError(f"{what} did not come up:\n{words}")

    def _configuration(self) -> str:
        host = socket.gethostname().split(".")[0]
        controller_port, node_port = free_ports(2)
        return f"""\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge.socket
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
GresTypes=gpu
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=512 Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


@contextmanager
def slurm_cluster() -> Iterator[Cluster]:
    # A short path: the name of munge's socket has a limit of 107 characters.
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
