"""One writer at a time in an output: a run, a night, an erasure. Two at once could release one dialogue twice, since
neither sees what the other takes before it has committed.

On a file system the kernel holds the lock (flock) and frees it when its process ends, however it ends; in a bucket
(gs://) an object is written on condition that nobody has changed it. Other stores have neither: there a schedule must
keep writers apart. What the lock says counts as well: a host that shares no flock with this one, and a run that was
submitted and left alone, keep it until it is cleared.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import OutputPlaces
from sottovoce.pipelines.forget.erasures import complete_erasures
from sottovoce.pipelines.sanitize.bucket_object import NEW, read_object, write_object
from sottovoce.pipelines.sanitize.run_folder import read_json, write_json
from sottovoce.transforms.write.private_files import FILE_MODE, make_private_root


class Busy(RunError):
    """Somebody else is writing in the output."""


class WriterLock:
    """What the lock says of its holder, and what it says `afterwards`: None frees it."""

    def __init__(self, doing: str):
        me = psutil.Process()
        self.says = {"doing": doing, "host": socket.gethostname(), "pid": me.pid, "started": me.create_time()}
        self.afterwards: dict[str, Any] | None = None
        self.completed: frozenset[str] = frozenset()  # erasures that were cut off before

    def leave(self, submitted_run: str) -> None:
        """The run's job goes on without this process."""
        self.afterwards = self.says | {"submitted": submitted_run}

    def finished(self) -> None:
        """The submitted run whose lock was taken over is committed."""
        self.afterwards = None

    def take_over(self, holder: dict[str, Any] | None, finishing: str | None, is_running: bool) -> bool:
        """Whether the holder's time is over. The lock of a submitted run goes back to it unless that run is finished."""
        if holder is None:
            return True
        if "submitted" in holder:
            self.afterwards = holder
            return holder["submitted"] == finishing
        return holder.get("host") == socket.gethostname() and not is_running


@contextmanager
def one_writer(output: str, doing: str, finishing: str | None = None) -> Iterator[WriterLock]:
    """`doing` is told to whoever is refused; `finishing` names the submitted run whose lock is taken over. An erasure that
    was cut off is completed first: a run with half of it must not be taken for one that was killed."""
    places = OutputPlaces.of(output)
    try:
        make_private_root(places)
    except OSError as error:
        why = "it is a file, not a folder" if os.path.isfile(places.uri) else error.strerror
        raise RunError(f"{places.uri} cannot be written ({why}); nothing was done") from None
    lock = WriterLock(doing)
    holding = _flock if "://" not in output else _object if output.startswith("gs://") else _file
    with holding(places, lock, finishing):
        lock.completed = complete_erasures(output)
        yield lock


@contextmanager
def _flock(places: OutputPlaces, lock: WriterLock, finishing: str | None) -> Iterator[None]:
    """The file stays when it is released, empty: removing it would let two processes lock two files of one name."""
    with os.fdopen(os.open(places.lock, os.O_RDWR | os.O_CREAT, FILE_MODE), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(places, _parse(file.read())) from None
        holder = _parse(file.read())
        if not lock.take_over(holder, finishing, is_running=False):  # on this host nobody holds it any more
            raise _busy(places, holder)
        _put(file, lock.says)
        try:
            yield
        finally:
            _put(file, lock.afterwards)


def check_no_writer_but_me(places: OutputPlaces) -> None:
    """Busy while another process, or a submitted run, holds the lock. On a file system of this host."""
    if not os.path.exists(places.lock):
        return
    with open(places.lock) as file:
        holder = _parse(file.read())
        if holder is None or (holder.get("pid") == os.getpid() and holder.get("host") == socket.gethostname()):
            return
        if "submitted" not in holder and holder.get("host") == socket.gethostname():
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return  # its holder was killed
            except BlockingIOError:
                pass
        raise _busy(places, holder)


def _put(file: Any, says: dict[str, Any] | None) -> None:
    file.seek(0)
    file.truncate()
    file.write(json.dumps(says) if says else "")
    file.flush()


@contextmanager
def _object(places: OutputPlaces, lock: WriterLock, finishing: str | None) -> Iterator[None]:
    found = read_object(places.lock)
    content, generation = found or ("", NEW)
    holder = _parse(content)
    if not lock.take_over(holder, finishing, _is_running(holder)):
        raise _busy(places, holder)
    if not write_object(places.lock, json.dumps(lock.says), generation):
        raise _busy(places, {"doing": "another run", "pid": "unknown", "host": "another host"})
    try:
        yield
    finally:
        _release(places, lock)


@contextmanager
def _file(places: OutputPlaces, lock: WriterLock, finishing: str | None) -> Iterator[None]:
    holder = read_json(places.lock) if FileSystems.exists(places.lock) else None
    if not lock.take_over(holder, finishing, _is_running(holder)):
        raise _busy(places, holder)
    write_json(places.lock, lock.says)
    try:
        yield
    finally:
        _release(places, lock)


def _release(places: OutputPlaces, lock: WriterLock) -> None:
    if lock.afterwards:
        write_json(places.lock, lock.afterwards)
    else:
        FileSystems.delete([places.lock])


def _busy(places: OutputPlaces, holder: dict[str, Any] | None) -> Busy:
    holder = holder or {"doing": "another run", "pid": "unknown", "host": "this host"}
    if "submitted" in holder:
        run = holder["submitted"]
        return Busy(
            f"{places.uri} is being written: {run} was submitted and has not finished. When its job is done: sottovoce "
            f"finish --run {places.run(run).released()}; if the job has failed, remove {places.lock}"
        )
    return Busy(
        f"{places.uri} is being written ({holder['doing']}) by process {holder['pid']} on {holder['host']}; wait for it, "
        f"or remove {places.lock} if it is gone"
    )


def _parse(content: str) -> dict[str, Any] | None:
    """None for a lock that is free, or that a crash left half written: its writer is gone."""
    try:
        found = json.loads(content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _is_running(holder: dict[str, Any] | None) -> bool:
    """The very process, not a later one that was given the same number."""
    try:
        return holder is not None and psutil.Process(holder["pid"]).create_time() == holder["started"]
    except psutil.NoSuchProcess:
        return False
