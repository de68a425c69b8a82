"""Kill a command before each of its writes in turn, run it again, and tell what came of it.

    python kill_everywhere.py OUTPUT SCRATCH COMMAND...      (`{}` in the command stands for a copy of OUTPUT)

A process that has imported everything forks for each kill, so that a hundred of them take seconds. Prints one JSON list:
for each kill which runs had a commit and were not whole, then or after a second go, and what lies there in the end.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

IMPORTS = (
    "commands.forget",
    "forget.forget",
    "sanitize.one_secret",
    "sanitize.one_writer",
)  # what the command would import by itself
WRITES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.utime", "os.truncate", "shutil.rmtree", "shutil.move"}


def kill_before(write: int, below: str) -> None:
    """SIGKILL to this process before its n-th write below a folder."""
    left = write

    def watch(event: str, arguments: tuple) -> None:
        nonlocal left
        writes = event in WRITES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if writes and str(arguments[0]).startswith(below) and not str(arguments[0]).endswith("/lock"):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def in_a_fork(run: Callable[[], None]) -> int:
    """How it ended: 0, or the number of the signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def command(words: list[str], output: Path) -> None:
    from sottovoce.pipelines.cli import main

    with redirect_stdout(io.StringIO()):
        assert main([word.replace("{}", str(output)) for word in words]) == 0


def files(output: Path) -> dict[str, str]:
    found = (path for path in sorted(output.rglob("*")) if path.is_file() and path.name != "lock")
    return {str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def half_done(output: Path) -> list[str]:
    """Runs that have a commit and are not what it says."""
    from sottovoce.models.errors import RunError
    from sottovoce.models.runs.committed_run import CommittedRun
    from sottovoce.models.runs.run_files import LocalFiles

    found = []
    for commit in output.glob("run-*/_COMMITTED.json"):
        try:
            CommittedRun(str(commit.parent), LocalFiles(str(commit.parent))).verify()
        except RunError as error:
            found.append(f"{commit.parent.name}: {error}")
    return found


def main() -> None:
    template, scratch, *words = sys.argv[1:]
    for module in IMPORTS:
        importlib.import_module(f"sottovoce.pipelines.{module}")
    outcomes = []
    for write in range(1, 1000):
        output = Path(scratch) / str(write)
        shutil.copytree(template, output)

        def killed(write: int = write, output: Path = output) -> None:
            kill_before(write, str(output))
            command(words, output)

        how = in_a_fork(killed)
        assert how in (0, signal.SIGKILL), f"write {write}: ended with {how}"
        half = half_done(output)
        assert in_a_fork(lambda output=output: command(words, output)) == 0, f"write {write}: the second time failed"
        outcomes.append({"killed": how != 0, "half_done": half + half_done(output), "completed": files(output)})
        if how == 0:
            break
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
