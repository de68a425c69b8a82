"""A worker pool without the project: workers start through Beam's own boot program, which installs what a job stages.

The boot program is that of Beam's container images, built from Beam's Go module. Each worker gets a fresh environment
that sees every package of the test's environment except the project.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from flink_cluster import CACHE

BEAM = version("apache-beam")
BOOT_MODULE = f"github.com/apache/beam/sdks/v2/python/container@v{BEAM}"
BOOT = CACHE / f"boot-{BEAM}" / "container"
START_WORKER = """#!/bin/sh
set -e
home=$(mktemp -d "{home}/worker.XXXXXX")
"{python}" -m venv --without-pip "$home/env"
export PATH="$home/env/bin:$PATH" PYTHONPATH="{packages}" RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT=1
exec "{boot}" --semi_persist_dir="$home" "$@"
"""


def boot_program() -> Path:
    """Built once for each version of Beam (two minutes)."""
    if not BOOT.exists():
        subprocess.run(
            ["go", "install", "-p", "1", BOOT_MODULE], check=True, env=os.environ | {"GOBIN": str(BOOT.parent)}
        )
    return BOOT


def start_script(home: Path) -> Path:
    packages = home / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "sottovoce" not in entry.name:
            (packages / entry.name).symlink_to(entry)
    script = home / "start_worker"
    script.write_text(START_WORKER.format(home=home, python=sys.executable, packages=packages, boot=boot_program()))
    script.chmod(0o755)
    return script


@contextmanager
def staging_pool(home: Path, port: int) -> Iterator[Path]:
    """A pool on the port; yields the folder in which each worker has its own (`worker.*`)."""
    with (home / "pool.log").open("wb") as log:
        pool = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "sottovoce.pipelines.remote.worker_pool",
                f"--port={port}",
                f"--boot={start_script(home)}",
            ],
            stderr=log,
        )
    try:
        yield home
    finally:
        pool.terminate()
        pool.wait()


def can_build() -> bool:
    return BOOT.exists() or shutil.which("go") is not None
