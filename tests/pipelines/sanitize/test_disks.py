"""Disks that are full or read-only, for real: mounted small and read-only where the test may mount. Nothing is committed, the
cause and the next command are told, and a name of a file is not."""

from __future__ import annotations

import errno
import json
import os
import subprocess

import pytest

from sottovoce.models.errors import unwritable
from sottovoce.pipelines import cli


@pytest.fixture
def mounted(tmp_path):
    """A folder for the options of a tmpfs."""
    made = []

    def mount(name: str, options: str):
        folder = tmp_path / name
        folder.mkdir()
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]).returncode:
            pytest.skip("may not mount here")
        made.append(folder)
        return folder

    yield mount
    for folder in made:
        subprocess.run(["umount", "--lazy", folder], check=True)


def sanitize(tmp_path, output) -> int:
    texts = ["call anna at nine", "play some jazz", "what is the weather in paris"] * 20
    lines = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    job = ("--sinks", "slu", "--set", "detect=rules")
    return cli.main(["sanitize", "--input", str(tmp_path / "in.jsonl"), "--output", str(output), *job])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options, cause",
    [("ro", "Read-only file system"), ("size=32k", "No space left on device")],
    ids=["read-only", "full"],
)
def test_a_disk_that_takes_nothing_is_told_as_one(tmp_path, mounted, capsys, options, cause):
    folder = mounted("disk", options)
    assert sanitize(tmp_path, folder / "out") == cli.EXIT_FAILED
    told = capsys.readouterr().err
    assert cause in told and "Traceback" not in told and "unexpected" not in told
    assert not list(folder.glob("out/run-*/_COMMITTED.json"))


def test_an_output_that_is_a_file_is_told_before_anything_is_read(tmp_path, capsys):
    (tmp_path / "out").write_text("here already")
    assert sanitize(tmp_path, tmp_path / "out") != cli.EXIT_OK
    assert "not a folder" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "here already"


def test_only_what_the_system_says_of_disks_counts():
    said = os.strerror(errno.ENOSPC)
    assert unwritable(OSError(errno.ENOSPC, said, "a name that is nobody's business")) == said
    assert unwritable(ValueError("call anna")) is None
