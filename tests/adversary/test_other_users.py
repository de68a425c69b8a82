"""Attacker: another user of the operator's machine, who may enter and read whatever the modes of files let everybody.

While a run is at work its private folder holds staged speech and notes; afterwards, who was taken and what he was charged.
The files are made under the widest umask, and looked at all the time.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from adversary import QUICK, Operator, dialogues, weakened
from whole_runs import demo_records, sottovoce, write_manifest

pytestmark = pytest.mark.slow


def attack(folder: Path) -> set[str]:
    """Names of files that everybody may read, in folders that everybody may enter: by modes, since the tests may be root."""
    found = set()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _mode(os.path.join(parent, name)) & stat.S_IXOTH]
        found |= {os.path.join(parent, name) for name in names if _mode(os.path.join(parent, name)) & stat.S_IROTH}
    return {os.path.relpath(path, folder) for path in found}


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:  # the run goes on while it is looked at
        return 0


@contextmanager
def looking(folder: Path) -> Iterator[set[str]]:
    """What the attack finds from now on, at any moment."""
    seen: set[str] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.update(attack(folder))

    watcher = threading.Thread(target=look)
    old = os.umask(0)
    watcher.start()
    try:
        yield seen
    finally:
        os.umask(old)
        done.set()
        watcher.join()
        seen.update(attack(folder))


def speech_run(operator: Operator, *more: object) -> None:
    manifest = write_manifest(operator.home / "corpus", [*demo_records(6), "broken"])
    paths = ("--input", manifest, "--output", operator.out("out"), "--secret-file", operator.secret_file)
    (operator.home / "job.yaml").write_text("")
    light = ("--set", "voice=mcadams", "--set", "relisten=none", *QUICK)
    sottovoce("nightly", "--config", operator.home / "job.yaml", *paths, "--set", "sinks={stt_am: 1}", *light, *more)


def private(found: set[str]) -> set[str]:
    return {name for name in found if not name.startswith("run-")}


def test_with_plain_modes_others_read_staged_speech_state_and_failures(tmp_path):
    operator = Operator(tmp_path)
    modes = {"FOLDER_MODE": 0o777, "FILE_MODE": 0o666}
    plain = {f"sottovoce.transforms.write.private_files:{name}": mode for name, mode in modes.items()}
    with weakened("modes of private files", plain), looking(operator.out("out")) as seen:
        speech_run(operator)
    words = {word for name in private(seen) for word in name.split("/")}
    assert {"audio", "state", "failures", "tables.json", "secret_check.json"} <= words


def test_others_read_what_is_handed_on_and_nothing_else_at_any_moment(tmp_path):
    operator = Operator(tmp_path)
    with looking(operator.out("out")) as seen:
        speech_run(operator)
        operator.run(dialogues(3), out="out/own")  # an output in an output: still closed
    assert any(name.endswith(".parquet") for name in seen) and not {name for name in private(seen) if "private" in name}
