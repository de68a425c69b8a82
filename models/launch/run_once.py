"""Run one command in a folder, once: `python -m sottovoce.models.launch.run_once FOLDER OWNER -- COMMAND...`

Runs where the job runs. `claim.json` is created exclusively before the command starts, so of two jobs that were
submitted by mistake one trains and the other leaves at once; `exit.json` says how the command ended. The same owner may
claim again: that is a back end starting its own job anew.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

EXIT_CLAIMED = 75  # EX_TEMPFAIL: another job has the folder
GRACE_S = 20.0


class _Terminated(Exception):
    """SIGTERM arrived."""


def claim(folder: Path, owner: str) -> bool:
    """True when the folder is ours. The claim is complete or absent: its content is there before its name is."""
    folder.mkdir(parents=True, exist_ok=True)
    me = {"owner": owner, "host": socket.gethostname(), "pid": os.getpid(), "began": psutil.Process().create_time()}
    draft = _draft(folder, me)
    try:
        os.link(draft, folder / "claim.json")
    except FileExistsError:
        if (read(folder, "claim.json") or {}).get("owner") != owner:
            return False
        os.replace(draft, folder / "claim.json")
    finally:
        draft.unlink(missing_ok=True)
    return True


def read(folder: str | Path, name: str) -> dict[str, Any] | None:
    """What a JSON file of the folder holds; None where there is none."""
    try:
        return json.loads((Path(folder) / name).read_text())
    except FileNotFoundError:
        return None


def run(folder: Path, command: list[str]) -> int:
    """The command's exit code. On SIGTERM the command and all it started end before this process does."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        code = child.wait()
    except _Terminated:
        end_tree(child.pid)
        _record_exit(folder, {"code": -signal.SIGTERM, "cancelled": True})
        return -signal.SIGTERM
    _record_exit(folder, {"code": code, "cancelled": False})
    return code


def end_tree(pid: int) -> None:
    """Ask a process to end, then make it and its descendants: torchrun's workers are in sessions of their own."""
    try:
        parent = psutil.Process(pid)
        tree = [*parent.children(recursive=True), parent]
        parent.terminate()
    except psutil.NoSuchProcess:
        return
    _, alive = psutil.wait_procs(tree, timeout=GRACE_S)
    for process in alive:
        process.kill()


def _record_exit(folder: Path, how: dict[str, Any]) -> None:
    os.replace(_draft(folder, how), folder / "exit.json")


def _draft(folder: Path, content: dict[str, Any]) -> Path:
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".draft-")
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    return Path(name)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated


def main(arguments: list[str]) -> int:
    """The command's exit code, below 0 where a signal ended it; EXIT_CLAIMED where another job has the folder."""
    folder, owner, _, *command = arguments
    signal.signal(signal.SIGTERM, _terminate)
    try:
        if not claim(Path(folder), owner):
            print("another job has claimed this training; nothing was started", file=sys.stderr)
            return EXIT_CLAIMED
        return run(Path(folder), command)
    except _Terminated:  # before the command was started
        _record_exit(Path(folder), {"code": -signal.SIGTERM, "cancelled": True})
        return -signal.SIGTERM


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
