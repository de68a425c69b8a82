"""Where recordings may lie. A manifest names paths, and whoever wrote it must not reach, or feel for, any other file here.

A path is resolved step by step, links and `..` included, and looked at only inside a root: what lies outside is refused
before the filesystem is asked, so existing, missing and forbidden files there cannot be told apart.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sottovoce.models.speech.audio_refusals import AudioNotAFile, AudioNotFound, AudioOutsideRoots

MOST_LINKS = 40


@dataclass(frozen=True)
class AudioRoots:
    """`roots`: folders (absolute) and URIs that the operator named. `files`: of the corpus, which may embed audio."""

    roots: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()

    def place(self, uri: str) -> str:
        """Where the recording lies, free of links; AudioOutsideRoots where that is not under a root."""
        if uri in self.files:
            return uri if "://" in uri else os.path.realpath(uri)
        if "\0" in uri:
            raise AudioOutsideRoots
        if "://" in uri:
            steps = uri.split("/")
            if ".." in steps or "." in steps or not any(_under(uri, root) for root in self.roots if "://" in root):
                raise AudioOutsideRoots
            return uri
        return self._resolved(uri)

    def _resolved(self, path: str) -> str:
        real = dict(self._local())
        for typed, root in real.items():
            if _under(path, typed):
                path = root + path[len(typed) :]
                break
        if not path.startswith("/"):
            raise AudioOutsideRoots
        done, todo, links = "", path.split("/")[::-1], 0
        while todo:
            step = todo.pop()
            if step == "..":
                done = done.rpartition("/")[0]
            elif step not in ("", "."):
                done = f"{done}/{step}"
                if any(_under(root, done) for root in real.values()):
                    continue  # on the way to a root, which has no links in it
                if not any(_under(done, root) for root in real.values()):
                    raise AudioOutsideRoots
                target = _link(done)
                if target is not None:
                    links += 1
                    if links > MOST_LINKS:
                        raise AudioNotFound
                    done = "" if target.startswith("/") else done.rpartition("/")[0]
                    todo += target.split("/")[::-1]
        if not any(_under(done, root) for root in real.values()):
            raise AudioOutsideRoots
        return done

    def _local(self) -> Iterator[tuple[str, str]]:
        """(as typed, as it really is) of the roots on this machine; the root folder itself is the empty text."""
        for root in self.roots:
            if "://" not in root:
                yield root.rstrip("/"), os.path.realpath(root).rstrip("/")


def _under(path: str, root: str) -> bool:
    root = root.rstrip("/")
    return path == root or path.startswith(f"{root}/")


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:  # no link, or nothing there
        return None


def open_regular(path: str) -> BinaryIO:
    """Like open(path, "rb"), but a pipe does not make it wait, and a pipe, folder or device is refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise AudioNotAFile
    return os.fdopen(descriptor, "rb")
