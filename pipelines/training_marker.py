"""`_TRAINING.json` beside a run: that its training was decided on, and which job it became.

intent -> submitted. The marker is created exclusively before anything is submitted and holds all that the submission
needs, launcher and settings included; so whoever finds an intent submits exactly that again, and the launcher finds the
job if it was made already. A marker that a crash left half written is no intent: nothing had been submitted.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.launch import Handle, Launcher
from sottovoce.models.settings import read_spec
from sottovoce.pipelines.run_folder import MARKER, RunFolder

LOCK = "_TRAINING.lock"


@dataclass(frozen=True)
class Marker:
    run_id: str
    key: str
    attempt: int
    launch: dict[str, Any]
    train_yaml: str
    gate: tuple[str, ...]
    decided: str
    state: Literal["intent", "submitted"] = "intent"
    handle: Handle | None = None

    def launcher(self) -> Launcher:
        return read_spec("launch", self.launch).make()


def read_marker(folder: RunFolder) -> Marker | None:
    """The marker, or None where there is none or a crash left half of one."""
    if not FileSystems.exists(folder.path(MARKER)):
        return None
    try:
        values = folder.read_json(MARKER)
    except ValueError:
        return None
    handle = values.pop("handle")
    gate = tuple(values.pop("gate"))
    return Marker(**values, gate=gate, handle=Handle(**handle) if handle else None)


def write_marker(folder: RunFolder, marker: Marker) -> None:
    folder.write_json(MARKER, asdict(marker))


def create_marker(folder: RunFolder, marker: Marker) -> bool:
    """False when another start was first. On disk before anything is submitted."""
    content = json.dumps(asdict(marker), indent=2) + "\n"
    if folder.uri.startswith("gs://"):
        return _create_object(folder.path(MARKER), content)
    try:
        descriptor = os.open(folder.path(MARKER), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return True


def _create_object(uri: str, content: str) -> bool:
    """Cloud Storage writes an object of generation 0, that is a new one, once."""
    from google.api_core.exceptions import PreconditionFailed
    from google.cloud.storage import Blob, Client

    blob = Blob.from_uri(uri, client=Client())
    try:
        blob.upload_from_string(content, content_type="application/json", if_generation_match=0)
    except PreconditionFailed:
        return False
    return True


@contextmanager
def one_at_a_time(folder: RunFolder) -> Iterator[None]:
    """Starts of one run on one file system wait for each other; the kernel frees the lock of a process that dies.

    A bucket has no lock: there the exclusive marker and the launcher's own look-up by key do it.
    """
    if "://" in folder.uri:
        if not folder.uri.startswith("gs://"):
            raise RunError(f"{folder.uri}: training starts from a run on a file system or in a bucket (gs://)")
        yield
        return
    with open(folder.path(LOCK), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
