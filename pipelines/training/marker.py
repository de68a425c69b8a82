"""The marker of a run, in its private folder: that its training was decided on, and which job it became.

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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.launch import Handle, Launcher
from sottovoce.models.settings import read_spec
from sottovoce.models.training.rows import run_around
from sottovoce.pipelines.sanitize.bucket_object import write_object
from sottovoce.pipelines.sanitize.run_folder import RunFolder, open_run, read_json, write_json
from sottovoce.transforms.write.private_files import FILE_MODE, make_private_folder


@dataclass(frozen=True)
class Marker:
    """What was decided of one run's training: which job, under which key, and what the gate said."""

    run_id: str
    key: str
    attempt: int
    launch: dict[str, Any]
    train_yaml: str
    gate: tuple[str, ...]
    decided: str
    commit: str  # sha256 of the `_COMMITTED.json` that passed the gate
    state: Literal["intent", "submitted"] = "intent"
    handle: Handle | None = None
    sink: str = "slu"  # that is trained on
    max_epsilon: float | None = None  # what was charged to its people, by unit; None where the run does not know them
    max_delta: float | None = None
    model: str = "model"  # the folder of the model, in that of the training
    resume: bool = False  # from the checkpoint of the attempt before
    stale: str | None = None  # since when the run lacks records that the model was trained on

    def launcher(self) -> Launcher:
        """As it was decided: made of what the marker holds, whatever the launch file says by now."""
        return read_spec("launch", self.launch).make()


def read_marker(folder: RunFolder) -> Marker | None:
    """The marker, or None where there is none or a crash left half of one."""
    if not FileSystems.exists(folder.places.training_marker):
        return None
    try:
        values = read_json(folder.places.training_marker)
    except ValueError:
        return None
    handle = values.pop("handle")
    gate = tuple(values.pop("gate"))
    return Marker(**values, gate=gate, handle=Handle(**handle) if handle else None)


def write_marker(folder: RunFolder, marker: Marker) -> None:
    """Overwrites the marker; a new one is for `create_marker`, which lets one start alone win."""
    write_json(folder.places.training_marker, asdict(marker))


def was_started(data: str, commit: str | None, private: Path) -> bool:
    """Whether start-training has judged this commit, and charged its people for the model whose private folder this is. Whoever
    has the command of its job could give it again for another folder: that is another model."""
    run = run_around(Path(data))
    if run is None or commit is None:
        return False
    folder = open_run(str(run))
    marker = read_marker(folder)
    if marker is None or marker.commit != commit:
        return False
    return Path(folder.places.training(marker.model)).resolve() == private.resolve()


def mark_stale(folder: RunFolder, since: str) -> None:
    """Records that the training has read are erased: the model is to be trained anew."""
    with one_at_a_time(folder):
        marker = read_marker(folder)
        if marker is not None and marker.state == "submitted":
            write_marker(folder, replace(marker, stale=since))


def create_marker(folder: RunFolder, marker: Marker) -> bool:
    """False when another start was first. On disk before anything is submitted."""
    content = json.dumps(asdict(marker), indent=2) + "\n"
    if folder.uri.startswith("gs://"):
        return write_object(folder.places.training_marker, content)
    make_private_folder(folder.places.training())
    try:
        descriptor = os.open(folder.places.training_marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
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
    make_private_folder(folder.places.training())
    with os.fdopen(os.open(folder.places.training_lock, os.O_CREAT | os.O_WRONLY, FILE_MODE), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
