"""A real Flink cluster on this machine: one JobManager, two TaskManagers of two slots, one Beam worker pool.

    python tools/flink_cluster.py up|down|status|get [--name NAME] [--port 8081] [--pool-port 50000]

Flink comes from PyPI (`apache-flink-libraries`, which has no start scripts: Java is called directly), Beam's job server
from Maven (`runner_configs/flink/pom.xml`). Downloads stay in `.cache/flink`, each cluster in `.cache/flink/NAME`.
Everything listens on loopback only. Standard library only, so that it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "flink"
CONF = ROOT / "runner_configs" / "flink" / "conf"
POM = ROOT / "runner_configs" / "flink" / "pom.xml"
JOB_SERVER = CACHE / "job-server-1.19.jar"
FLINK = "apache-flink-libraries==1.19.3"
TASKMANAGERS, SLOTS = 2, 2
START_WITHIN_S, STOP_WITHIN_S = 300, 20
OPENED_TO_FLINK = (
    *("java.lang", "java.lang.reflect", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.text", "java.time"),
    *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks"),
)


class ClusterError(Exception):
    """Shown as one line."""


def need_system_packages() -> None:
    """Flink 1.19 runs on Java 11 and 17; Maven builds the job server."""
    missing = [name for name in ("java", "mvn") if shutil.which(name) is None]
    hint = "install with: apt-get install -y openjdk-17-jre-headless maven"
    if missing:
        raise ClusterError(f"missing: {', '.join(missing)}; {hint}")
    banner = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(\d+)', banner)
    if version is None or version[1] not in ("11", "17"):
        raise ClusterError(f"java is version {version[1] if version else 'unknown'}, Flink 1.19 needs 11 or 17; {hint}")


def distribution() -> Path:
    """The folder with Flink's lib, bin and plugins; fetched from PyPI the first time."""
    target = CACHE / FLINK.replace("==", "-")
    if not (target / "pyflink" / "lib").is_dir():
        print(f"fetching {FLINK} (235 MB, once)", file=sys.stderr)
        uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
        installer = (
            [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
        )
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run([*installer, "--quiet", "--no-deps", "--target", str(partial), FLINK], check=True)
        partial.rename(target)
    return target / "pyflink"


def job_server() -> Path:
    """Beam's Flink job server jar, rebuilt when the pom is newer."""
    if not JOB_SERVER.exists() or JOB_SERVER.stat().st_mtime < POM.stat().st_mtime:
        print("building the Flink job server with Maven (2 minutes of downloads, once)", file=sys.stderr)
        build = CACHE / "build"
        subprocess.run(["mvn", "-B", "-q", "-f", str(POM), f"-DbuildDirectory={build}", "package"], check=True)
        (build / "flink-job-server.jar").replace(JOB_SERVER)
        shutil.rmtree(build)
    return JOB_SERVER


@dataclass(frozen=True)
class Cluster:
    name: str
    port: int
    pool_port: int

    @property
    def home(self) -> Path:
        return CACHE / self.name

    @property
    def logs(self) -> Path:
        return CACHE / "log" / self.name

    def roles(self) -> list[str]:
        return ["jobmanager", *(f"taskmanager-{n}" for n in range(TASKMANAGERS)), "pool"]

    def pid(self, role: str) -> int | None:
        """The running process of a role. A pid file that outlived its process may name somebody else's by now."""
        try:
            pid = int((self.home / f"{role}.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None
        shown = subprocess.run(
            ["ps", "-ww", "-o", "stat=,args=", "-p", str(pid)], capture_output=True, text=True
        ).stdout
        return pid if self._marker(role) in shown and not shown.startswith("Z") else None

    def start(self, role: str) -> None:
        """Start one role unless it runs. Also the way to bring back a TaskManager that was killed."""
        if self.pid(role) is not None:
            return
        self.home.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        flink = distribution()
        environment = {
            **os.environ,
            "FLINK_CONF_DIR": str(CONF),
            "FLINK_LIB_DIR": str(flink / "lib"),
            "FLINK_PLUGINS_DIR": str(flink / "plugins"),
        }
        with (self.logs / f"{role}.out").open("ab") as out:
            process = subprocess.Popen(
                self._command(role, flink),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment,
                start_new_session=True,
            )
        (self.home / f"{role}.pid").write_text(str(process.pid))
        while self.pid(role) is None and process.poll() is None:  # a process that has just begun shows no arguments yet
            time.sleep(0.05)

    def overview(self) -> dict:
        """What the JobManager reports; empty while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/overview", timeout=5) as answer:
                return json.load(answer)
        except (urllib.error.URLError, OSError, ValueError):
            return {}

    def up(self) -> None:
        for role in self.roles():
            self.start(role)
        deadline = time.monotonic() + START_WITHIN_S
        while self.overview().get("slots-total") != TASKMANAGERS * SLOTS:
            dead = [role for role in self.roles() if self.pid(role) is None]
            if dead or time.monotonic() > deadline:
                reason = f"{dead[0]} ended" if dead else f"not ready after {START_WITHIN_S} s"
                self.down()
                raise ClusterError(f"{reason}; see {self.logs.relative_to(ROOT)} (is port {self.port} in use?)")
            time.sleep(0.5)

    def down(self) -> None:
        """TERM to all, KILL to what is left: the JVMs must not linger on a small machine."""
        running = [pid for role in reversed(self.roles()) if (pid := self.pid(role)) is not None]
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in running:
                _signal(pid, number)
            deadline = time.monotonic() + STOP_WITHIN_S
            while running and time.monotonic() < deadline:
                running = [pid for pid in running if _alive(pid)]
                time.sleep(0.2)
        shutil.rmtree(self.home, ignore_errors=True)

    def _marker(self, role: str) -> str:
        return f"sottovoce.flink={self.home}/{role}"

    def _command(self, role: str, flink: Path) -> list[str]:
        if role == "pool":
            python = str(ROOT / ".venv" / "bin" / "python")
            pool = ["-m", "sottovoce.pipelines.remote.worker_pool", "--port", str(self.pool_port)]
            return [python, "-X", self._marker(role), *pool]
        settings = [
            f"-Drest.port={self.port}",
            f"-Djobmanager.rpc.port={self.port + 1}",
            f"-Dio.tmp.dirs={self.home}/tmp",
        ]
        jars = ":".join([*sorted(str(jar) for jar in (flink / "lib").glob("*.jar")), str(JOB_SERVER)])
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_TO_FLINK]
        logging = [f"-Dlog.file={self.logs}/{role}.log", f"-Dlog4j.configurationFile={CONF}/log4j.properties"]
        java = ["java", f"-D{self._marker(role)}", *opened, *logging]
        if role == "jobmanager":
            entry = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
            return [*java, "-Xmx512m", "-cp", jars, entry, "--configDir", str(CONF), *settings]
        entry = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
        jvm, program = _taskmanager_resources(flink)
        return [*java, *jvm, "-cp", jars, entry, "--configDir", str(CONF), *program, *settings]


def _taskmanager_resources(flink: Path) -> tuple[list[str], list[str]]:
    """JVM flags and program arguments that Flink derives from the memory settings."""
    dist = next((flink / "lib").glob("flink-dist-*.jar"))
    jars = f"{flink / 'bin' / 'bash-java-utils.jar'}:{dist}"
    tool = ["org.apache.flink.runtime.util.bash.BashJavaUtils", "GET_TM_RESOURCE_PARAMS", "--configDir", str(CONF)]
    printed = subprocess.run(["java", "-cp", jars, *tool], capture_output=True, text=True, check=True).stdout
    lines = [line.partition("BASH_JAVA_UTILS_EXEC_RESULT:")[2] for line in printed.splitlines()]
    jvm, program = [line.split() for line in lines if line]
    return jvm, program


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state) and not state.startswith("Z")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("up", "down", "status", "get"), help="get: downloads only")
    parser.add_argument("--name", default="cluster")
    parser.add_argument("--port", type=int, default=8081, help="REST port; the next one is used too")
    parser.add_argument("--pool-port", type=int, default=50000)
    args = parser.parse_args()
    cluster = Cluster(args.name, args.port, args.pool_port)
    try:
        if args.action in ("up", "get"):
            need_system_packages()
            distribution()
            job_server()
        if args.action == "up":
            cluster.up()
        elif args.action == "down":
            cluster.down()
    except (ClusterError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    report = {role: cluster.pid(role) for role in cluster.roles()}
    overview = cluster.overview()
    print(json.dumps({**report, "slots": overview.get("slots-total", 0), "flink": overview.get("flink-version")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
