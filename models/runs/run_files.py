"""The files of a run folder, wherever it lies, and what a commit says of each: its size and its sha256.

Paths are relative to the folder, with `/` between their parts. The commit itself is not among them.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import BinaryIO, Protocol

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import COMMITTED

READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What a commit says of one file: its size and its hash, by which it is known again."""

    sha256: str
    bytes: int


class RunFiles(Protocol):
    """A run folder as far as a reader needs it: on a disk or in a bucket."""

    def sizes(self) -> Mapping[str, int]:
        """Every file below the folder with its size in bytes."""

    def open(self, path: str) -> BinaryIO:
        """OSError where there is none."""


class LocalFiles:
    """A folder of this machine. What is no regular file is listed, so that it is noticed, and never opened."""

    def __init__(self, folder: str):
        self._folder = folder.rstrip("/") or "/"

    def sizes(self) -> dict[str, int]:
        found = {}
        for parent, folders, names in os.walk(self._folder):
            links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
            for name in (*names, *links):
                path = os.path.join(parent, name)
                found[os.path.relpath(path, self._folder).replace(os.sep, "/")] = os.lstat(path).st_size
        return found

    def open(self, path: str) -> BinaryIO:
        # A FIFO or a device would be waited for; a link leads out of the folder.
        descriptor = os.open(os.path.join(self._folder, path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(f"{path}: not a regular file")
        return os.fdopen(descriptor, "rb")


def list_files(
    files: RunFiles, known: Mapping[str, FileEntry] | None = None, but: Collection[str] = ()
) -> dict[str, dict[str, str | int]]:
    """What `_COMMITTED.json` holds under `files`: path -> {sha256, bytes}.

    `known` spares reading files again that were hashed when they were written (shards); they must be there, in their
    size. `but` names files that go before the commit counts, such as a lock.
    """
    known, sizes = known or {}, files.sizes()
    for path, entry in known.items():
        if sizes.get(path) != entry.bytes:
            raise RunError(f"{path} is not there as it was written; nothing was committed")
    left = [path for path in sorted(sizes) if path not in (COMMITTED, *but)]
    return {path: asdict(known.get(path) or hashed(files, path)) for path in left}


def hashed(files: RunFiles, path: str) -> FileEntry:
    """Read through once, a megabyte at a time. OSError where there is no such file."""
    digest, size = hashlib.sha256(), 0
    with closing(files.open(path)) as file:
        while block := file.read(READ_BYTES):
            digest.update(block)
            size += len(block)
    return FileEntry(digest.hexdigest(), size)


def check_files(files: RunFiles, listed: Mapping[str, FileEntry], unread: Iterable[str] = ()) -> None:
    """Raise RunError unless the folder holds exactly the listed files, byte for byte.

    `unread` names files of which only presence and size are compared: nobody is going to read them.
    """
    sizes, skipped = files.sizes(), set(unread)
    if extra := sorted(set(sizes) - set(listed) - {COMMITTED}):
        raise RunError(f"{_first(extra)} in the run but not committed: nobody vouched for it; remove it")
    if missing := sorted(set(listed) - set(sizes)):
        raise RunError(f"{_first(missing)} committed but missing; run sanitize again")
    for path, entry in listed.items():
        if sizes[path] != entry.bytes or (path not in skipped and _hashed_or_none(files, path) != entry):
            raise changed(path)


def changed(path: str) -> RunError:
    """The error to raise for a file that is not as its commit says."""
    return RunError(f"{path} is not the file that was committed (size or sha256 differs); run sanitize again")


def _hashed_or_none(files: RunFiles, path: str) -> FileEntry | None:
    try:
        return hashed(files, path)
    except OSError:
        return None


def _first(paths: list[str]) -> str:
    return f"{paths[0]} is" if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more are"
