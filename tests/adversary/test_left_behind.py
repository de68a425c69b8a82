"""Attacker: another user of the host, who reads what a run leaves in OUT and in the folder for temporary files.

A run succeeds, fails, or is killed (SIGKILL) while it writes; each time everything that lies there afterwards is looked
at: may others read it, and does it hold anything that was said, an id, or the secret?
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from adversary import QUICK, Operator, as_outsider, dialogues
from whole_runs import write_manifest

pytestmark = pytest.mark.slow
PLANTED = ("petronella", "quetzalroom", "oswaldina", "zirconturn")
CORPUS = [
    record
    | {
        "text": f"alice step {number}",
        "id": f"zirconturn{number}",
        "dialogue_id": f"quetzalroom{number // 2}",
        "speaker_id": "oswaldina",
    }
    for number, record in enumerate(dialogues(30))
] + ['{"text": "petronella", "turn": "no number", "dialogue_id": "quetzalroom"}']

# The command line with a trap: at the given write of the run, something happens to the process.
TRAP = """
import os, signal, sys
import sottovoce.transforms.write.shards as write
import sottovoce.pipelines.sanitize.run_folder as run_folder
real, left = write.write_then_rename, [int(sys.argv[1])]
def trapped(path, *arguments, **named):
    left[0] -= 1
    if left[0] == 0:
        {happens}
    return real(path, *arguments, **named)
write.write_then_rename = run_folder.write_then_rename = trapped
from sottovoce.pipelines.cli import main
sys.exit(main(sys.argv[2:]))
"""
KILLED, FAILED = "os.kill(os.getpid(), signal.SIGKILL)", "raise OSError(28, 'petronella: no space left')"
CARELESS = "open(os.path.join(os.environ['TMPDIR'], 'debug.txt'), 'w').write(open(sys.argv[4]).read())"


class Ended:
    """What there is after a command that ran with its own folder for temporary files."""

    def __init__(self, tmp_path: Path, happens: str, at_write: int):
        operator = Operator(tmp_path)
        self.secret, self.out, self.scratch = operator.secret, operator.out("out"), operator.home / "scratch"
        self.scratch.mkdir()
        manifest = write_manifest(operator.home / "corpus", CORPUS)
        arguments = ("sanitize", "--input", manifest, "--output", self.out, "--secret-file", operator.secret_file)
        self.done = subprocess.run(
            [sys.executable, "-c", TRAP.format(happens=happens), *map(str, (at_write, *arguments, *QUICK))],
            env=os.environ | {"TMPDIR": str(self.scratch)},
            capture_output=True,
            text=True,
        )


def readable_by_others(root: Path) -> list[Path]:
    """Files that another user reaches: readable themselves, in folders that may be entered."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if (Path(folder) / name).stat().st_mode & stat.S_IXOTH]
        found += [path for name in files if (path := Path(folder) / name).stat().st_mode & stat.S_IROTH]
    return found


def attack(files: dict[str, bytes], secret: bytes) -> set[str]:
    """What of the planted things stands in the files, Parquet read as rows too."""
    return {word for content in files.values() for word in PLANTED if word.encode() in content} | (
        {"secret"}
        if any(secret in content or secret.hex().encode() in content for content in files.values())
        else set()
    )


def contents(paths: list[Path]) -> dict[str, bytes]:
    found = {str(path): path.read_bytes() for path in paths}
    for path in paths:
        with contextlib.suppress(Exception):  # half a file of a killed run is no Parquet
            found[f"{path} rows"] = str(pq.read_table(path).to_pylist()).encode()
    return found


def everything(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_build_that_leaves_a_copy_among_temporary_files_is_noticed(tmp_path):
    ended = Ended(tmp_path, CARELESS, 3)
    assert as_outsider(attack, contents(readable_by_others(ended.scratch)), ended.secret) == set(PLANTED)


# Writes of this run: config, private tables, shards and their notes, tally, ledger, report, commit.
@pytest.mark.parametrize(
    ("happens", "at_write"),
    [("pass", 1), (FAILED, 2), (FAILED, 6), (KILLED, 4), (KILLED, 14)],
)
def test_our_runs_leave_nothing_that_was_said_wherever_they_end(happens, at_write, tmp_path):
    ended = Ended(tmp_path, happens, at_write)
    assert ended.done.returncode == {"pass": 0, FAILED: 1, KILLED: -9}[happens], ended.done.stderr
    files = contents(everything(ended.scratch) + everything(ended.out))
    assert not as_outsider(attack, files, ended.secret), "not even where nobody else may look"
    said = {"stdout": ended.done.stdout.encode(), "stderr": ended.done.stderr.encode()}
    assert not as_outsider(attack, said, ended.secret)
    assert not readable_by_others(ended.scratch)
    if happens == "pass":
        assert not everything(ended.scratch)
    committed = list(ended.out.glob("*/_COMMITTED.json"))
    assert bool(committed) == (happens == "pass")
    private = ended.out / "private"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in private.rglob("*"))
