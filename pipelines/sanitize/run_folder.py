"""The folders of one run, and when it counts: a run is there once `_COMMITTED.json`, its last write, is there.

`models/runs/places.py` names what lies where. Whoever writes here holds the lock of the output (`one_writer.py`).
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.runs.committed_run import handed_on, seal_of
from sottovoce.models.runs.places import (
    COMMITTED,
    FAILURES,
    INDEX,
    KEPT_TABLES,
    STATE,
    WORK,
    OutputPlaces,
    RunPlaces,
    absolute,
)
from sottovoce.models.runs.run_files import FileEntry, list_files
from sottovoce.pipelines.sanitize.run_files import files_of
from sottovoce.transforms.write.private_files import make_private_folder
from sottovoce.transforms.write.shards import UNFINISHED, write_then_rename


def run_id(secret: Secret, resolved_job: dict[str, Any], fingerprint: str, nightly: bool) -> str:
    """The same job on the same corpus with the same secret is the same run; a night, which takes a part, is another.

    Keyed: of a hash that anybody can compute, whoever knows the rest of a corpus would find the unknown by trying.
    """
    text = json.dumps([resolved_job, fingerprint, nightly], sort_keys=True)
    return f"run-{secret.token('run', text)[:12]}"


def read_json(path: str) -> Any:
    """From any filesystem that Beam reads; ValueError where the file is not JSON."""
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return json.loads(file.read())


def write_json(path: str, value: Any, private: bool = True) -> None:
    """Whole or not at all; private unless said otherwise, so that only its owner may read it."""
    write_then_rename(path, lambda file: file.write(json_bytes(value)), private)


def json_bytes(value: Any) -> bytes:
    """The very bytes that `write_json` writes, for whoever hashes or seals them."""
    return f"{json.dumps(value, indent=2)}\n".encode()


def write_commit(places: RunPlaces, record: dict[str, Any]) -> None:
    """The seal first: a commit that is there is sealed. The copy last: it says what was released wherever the folder goes."""
    public = handed_on(record)
    if public is not record:
        write_json(places.counts, record["counts"])
    write_json(places.seal, seal_of(json_bytes(public)))
    write_json(places.released(COMMITTED), public, private=False)
    write_json(places.record, record)


def files_below(uri: str) -> list[Any]:
    """Beam's metadata (path, size) of every file at any depth."""
    return FileSystems.match([FileSystems.join(uri, "**")])[0].metadata_list


def remove_tree(uri: str) -> None:
    """A file, or a folder with all that is in it; what is not there is removed already."""
    if "://" not in uri:
        shutil.rmtree(uri) if os.path.isdir(uri) else Path(uri).unlink(missing_ok=True)
    elif paths := [found.path for found in FileSystems.match([uri])[0].metadata_list + files_below(uri)]:
        FileSystems.delete(paths)


def remove_unfinished(folder: str) -> None:
    """What workers, and whoever else wrote there, left when they were killed while writing."""
    if left := [found.path for found in files_below(folder) if found.path.endswith(UNFINISHED)]:
        FileSystems.delete(left)


def at_one_time(folder: str) -> None:
    """Shards are written in the order in which the corpus first asks for them: the oldest holds its first record. So all
    get the time of the commit. A bucket keeps when an object was made."""
    if "://" not in folder:
        now = time.time()
        for parent, _, files in os.walk(folder, topdown=False):
            for path in (*(os.path.join(parent, name) for name in files), parent):
                os.utime(path, (now, now))


class RunFolder:
    """The two folders of one run, handed on and private: begun, committed, retired and removed together."""

    def __init__(self, output: str, name: str):
        self.places = OutputPlaces.of(output).run(name)
        self.uri, self.name = self.places.released(), name

    def path(self, *parts: str) -> str:
        """In what is handed on."""
        return self.places.released(*parts)

    def committed(self) -> dict[str, Any] | None:
        """With its exact counts, which are in private state where the run hands on none."""
        if not FileSystems.exists(self.path(COMMITTED)):
            return None
        record = self.read_json(COMMITTED)
        exact = record.get("crowd") and FileSystems.exists(self.places.counts)
        return record | ({"counts": read_json(self.places.counts)} if exact else {})

    def begin(self) -> None:
        """Clear what an unfinished or replaced run left, and make the private folder of the new one."""
        if FileSystems.exists(self.places.training_marker):
            raise RunError(
                f"training was started from {self.name}: a job may be reading it, and replacing it would train on the same "
                f"people twice. To allow that, cancel the job and remove {self.places.training_marker}"
            )
        remove_tree(self.places.canary_evidence)  # of another execution
        if committed := self.committed():
            write_json(self.places.record, committed)
        if FileSystems.exists(self.places.record):  # what it released stays taken, also if this execution never ends
            self._remove_records()
        else:
            self.remove()
        for folder in (self.places.shard_notes, self.places.staged_audio):
            make_private_folder(folder)

    def remove(self) -> None:
        """As if it had never begun: for a run that has released nothing."""
        self._remove_records()
        remove_tree(self.places.private())

    def _remove_records(self) -> None:
        """All but what was taken and spent, and the training."""
        if FileSystems.exists(self.path(COMMITTED)):
            FileSystems.delete([self.path(COMMITTED)])  # first: what is being removed is no longer committed
        for folder in (self.uri, *(self.places.private(name) for name in (WORK, FAILURES, INDEX))):
            remove_tree(folder)

    def remove_unused(self, nonce: str) -> None:
        """What an execution left that commits nothing, the lists that it counted included: nobody has seen what was drawn
        from them."""
        self.remove()
        counted = FileSystems.match([self.places.lists, f"{self.places.crowd('*')}-*.json"])
        for item in [item for found in counted for item in found.metadata_list]:
            if read_json(item.path)["nonce"] == nonce:
                FileSystems.delete([item.path])

    def commit(self, record: dict[str, Any]) -> None:
        """Clear away what is unfinished, then write the commit, with the hash of every file; from there on the run counts."""
        self._keep_tables([note for note in self.shard_notes() if note["sink"] in KEPT_TABLES])
        remove_tree(self.places.work())
        for root in (self.uri, self.places.private()):
            remove_unfinished(root)
        at_one_time(self.uri)
        written = {shard["path"]: FileEntry(shard["sha256"], shard["bytes"]) for shard in record["shards"]}
        write_commit(self.places, record | {"files": list_files(files_of(self.uri), written)})

    def retire(self, record: dict[str, Any]) -> None:
        """Remove the records; what was taken and spent stays, and so does the training."""
        write_json(self.places.record, record)  # a run that was killed in the middle of its commit may lack it
        self._keep_tables([table for table in self.tables() if table["sink"] == STATE])
        self._remove_records()

    def left_out(self) -> int:
        """How many records of people who were forgotten this run has left out."""
        return read_json(self.places.left_out)["records"] if FileSystems.exists(self.places.left_out) else 0

    def tables(self) -> list[dict[str, Any]]:
        """The private tables of a finished run, with path below its private folder, rows, bytes and sha256; none where
        somebody has lost them, which `one_secret.py` notices."""
        return read_json(self.places.tables)["tables"] if FileSystems.exists(self.places.tables) else []

    def _keep_tables(self, tables: list[dict[str, Any]]) -> None:
        write_json(self.places.tables, {"tables": tables})

    def shard_notes(self) -> list[dict[str, Any]]:
        """What the workers noted of each shard that they wrote (sink, path, rows, bytes, sha256), in the order of paths."""
        found = FileSystems.match([f"{self.places.shard_notes}/*.json"])[0].metadata_list
        return sorted((read_json(note.path) for note in found), key=lambda note: note["path"])

    def read_json(self, name: str) -> Any:
        """A file of the folder that is handed on."""
        return read_json(self.path(name))

    def write_json(self, name: str, value: Any) -> None:
        """A file of the folder that is handed on; others may read it."""
        write_json(self.path(name), value, private=False)

    def write_text(self, name: str, text: str) -> None:
        """A UTF-8 file of the folder that is handed on, whole or not at all."""
        write_then_rename(self.path(name), lambda file: file.write(text.encode("utf-8")))


def open_run(run: str) -> RunFolder:
    """A run by the folder that is handed on: OUT/<run id>."""
    output, _, name = absolute(run).rpartition("/")
    return RunFolder(output, name)
