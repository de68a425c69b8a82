"""The folder of one run, and when it counts: a run is there once `_COMMITTED.json`, its last write, is there.

OUT/<run id>/<sink>/part-*.parquet   the safe records
            /failures/               refused records: keyed id, stage, reason, file and line
            /ledger.json             what each mechanism gives and does not give
            /report.html             the same for people
            /config.yaml             the job as it was resolved; no secret
            /_work/                  in progress: staged slices, shard notes, tally; removed at commit
            /_LOCK.json              who is writing; removed at the end
            /_COMMITTED.json         shards with sha256 and row counts, and the counts of the run
            /_TRAINING.json          later: the training that was started from the run, with its files in training/
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import psutil
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.transforms.write import UNFINISHED, write_then_rename

COMMITTED, LOCK, WORK = "_COMMITTED.json", "_LOCK.json", "_work"
MARKER, TRAINING = "_TRAINING.json", "training"


def run_id(resolved_job: dict[str, Any], fingerprint: str) -> str:
    """The same job on the same corpus is the same run. The secret is left out on purpose: a second release of one corpus
    under another secret would give every dialogue a second sink."""
    text = json.dumps([resolved_job, fingerprint], sort_keys=True)
    return f"run-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def files_below(uri: str) -> list[Any]:
    return FileSystems.match([FileSystems.join(uri, "**")])[0].metadata_list


def remove_tree(uri: str) -> None:
    """A file, or a folder with all that is in it; what is not there is removed already."""
    if "://" not in uri:
        shutil.rmtree(uri) if os.path.isdir(uri) else Path(uri).unlink(missing_ok=True)
    elif paths := [found.path for found in FileSystems.match([uri])[0].metadata_list + files_below(uri)]:
        FileSystems.delete(paths)


class RunFolder:
    def __init__(self, output: str, name: str):
        # Workers of a cluster have another working directory: a local path is made absolute here.
        self.uri = FileSystems.join(output if "://" in output else os.path.abspath(output), name)
        self.name = name

    def path(self, *parts: str) -> str:
        return FileSystems.join(self.uri, *parts)

    def committed(self) -> dict[str, Any] | None:
        return self.read_json(COMMITTED) if FileSystems.exists(self.path(COMMITTED)) else None

    def begin(self) -> None:
        """Take the folder, and clear what an unfinished or replaced run left in it."""
        if FileSystems.exists(self.path(MARKER)):
            raise RunError(
                f"training was started from {self.name}: a job may be reading it, and replacing it would train on the same "
                f"people twice. To allow that, cancel the job and remove {self.path(MARKER)}"
            )
        self.take()
        if FileSystems.exists(self.path(COMMITTED)):
            FileSystems.delete([self.path(COMMITTED)])  # first: what is being cleared is no longer committed
        self.clear(keep=(LOCK,))
        for folder in (self.path(WORK, "shards"), self.path(WORK, "audio")):
            FileSystems.mkdirs(folder)

    def commit(self, record: dict[str, Any]) -> None:
        remove_tree(self.path(WORK))
        if left := [found.path for found in files_below(self.uri) if found.path.endswith(UNFINISHED)]:
            FileSystems.delete(left)  # of workers that were killed while writing
        self.write_json(COMMITTED, record)

    def clear(self, keep: tuple[str, ...]) -> None:
        """Remove all but the files and folders named."""
        if "://" in self.uri:
            names = {found.path[len(self.uri) :].lstrip("/").split("/")[0] for found in files_below(self.uri)}
        else:
            names = set(os.listdir(self.uri))  # empty folders too
        for name in names - set(keep):
            remove_tree(self.path(name))

    def shard_notes(self) -> list[dict[str, Any]]:
        found = FileSystems.match([self.path(WORK, "shards", "*.json")])[0].metadata_list
        return sorted((self.read_json(note.path) for note in found), key=lambda note: note["path"])

    def release(self) -> None:
        if FileSystems.exists(self.path(LOCK)):
            FileSystems.delete([self.path(LOCK)])

    def read_json(self, name: str) -> Any:
        path = name if name.startswith(self.uri) else self.path(name)
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return json.loads(file.read())

    def write_json(self, name: str, value: Any) -> None:
        self.write_text(name, json.dumps(value, indent=2) + "\n")

    def write_text(self, name: str, text: str) -> None:
        write_then_rename(self.path(name), lambda file: file.write(text.encode("utf-8")))

    def take(self) -> None:
        """One writer at a time. A lock whose process is gone from this host is taken over: that run was killed."""
        if FileSystems.exists(self.path(LOCK)):
            holder = self.read_json(LOCK)
            if holder["host"] != socket.gethostname() or _is_running(holder):
                raise RunError(
                    f"{self.name} is being written by process {holder['pid']} on {holder['host']}; "
                    f"wait for it, or remove {self.path(LOCK)} if it is gone"
                )
        me = psutil.Process()
        self.write_json(LOCK, {"host": socket.gethostname(), "pid": me.pid, "started": me.create_time()})


def _is_running(holder: dict[str, Any]) -> bool:
    """The very process, not a later one that was given the same number."""
    try:
        return psutil.Process(holder["pid"]).create_time() == holder["started"]
    except psutil.NoSuchProcess:
        return False
