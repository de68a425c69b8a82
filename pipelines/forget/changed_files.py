"""The files of a finished run that change: written aside first, and described as they will be.

A path is that of a file in the run, in whichever root it lies: `slu/part-00000-of-00002.parquet`, `state/...`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import KEPT_TABLES
from sottovoce.models.runs.run_files import FileEntry, hashed
from sottovoce.pipelines.nightly.finished_runs import FinishedRun
from sottovoce.pipelines.sanitize.run_files import files_of
from sottovoce.transforms.write.rewrite import Keep, read_table, rewrite_shard
from sottovoce.transforms.write.shards import write_private_table, write_then_rename

Description = dict[str, Any]


class ChangedFiles:
    """`ready` is the folder in which the new files wait; `changed` says what they are, None for one that goes."""

    def __init__(self, run: FinishedRun, ready: str):
        self._places, self._ready = run.folder.places, ready
        self.tables = run.folder.tables()
        self.changed: dict[str, Description | None] = {}

    def paths(self, folder: str, begin: str = "") -> list[str]:
        """Of private tables."""
        return [table["path"] for table in self.tables if table["path"].startswith(f"{folder}/{begin}")]

    def check_tables(self) -> None:
        """The index finds what it holds: one that was changed would leave records behind."""
        files = files_of(self._places.private())
        for table in self.tables:
            try:
                found = hashed(files, table["path"])
            except OSError:
                raise RunError(f"{self.uri(table['path'])} is missing; put it back from a backup") from None
            if found != FileEntry(table["sha256"], table["bytes"]):
                raise RunError(
                    f"{self.uri(table['path'])} is not the file that the run wrote; put it back from a backup"
                )

    def read(self, path: str) -> pa.Table:
        return read_table(self.uri(path))

    def write_table(self, path: str, table: pa.Table, rows_per_group: int | None = None) -> None:
        """Write a private table aside; one without rows is listed as gone."""
        self._describe(path, write_private_table(f"{self._ready}/{path}", table, rows_per_group))

    def write_shard(self, path: str, record_type: type, keep: Keep) -> None:
        """Write a shard aside as `keep` leaves its records, row group by row group; one without rows is listed as gone."""
        self._describe(path, rewrite_shard(self.uri(path), f"{self._ready}/{path}", record_type, keep))

    def write_text(self, path: str, text: str) -> None:
        """Write a page or a JSON file aside, described by its hash and bytes."""
        write_then_rename(f"{self._ready}/{path}", lambda file: file.write(text.encode("utf-8")))
        entry = hashed(files_of(self._ready), path)
        self.changed[path] = {"path": path, "sha256": entry.sha256, "bytes": entry.bytes}

    def _describe(self, path: str, written: Description) -> None:
        """A table without rows would not be there, had they never been in it."""
        self.changed[path] = written | {"path": path, "sink": path.split("/")[0]} if written["rows"] else None

    def uri(self, path: str) -> str:
        """Where the file lies now."""
        is_private = path.split("/")[0] in KEPT_TABLES
        return self._places.private(path) if is_private else self._places.released(path)

    def new_uri(self, path: str) -> str:
        """Where it can be read as it will be."""
        return f"{self._ready}/{path}" if path in self.changed else self.uri(path)

    def described(self, tables: Sequence[Description]) -> list[Description]:
        """The same list, as the tables will be."""
        new = (self.changed.get(table["path"], table) for table in tables)
        return [table for table in new if table is not None]

    def listed(self, files: Mapping[str, FileEntry]) -> dict[str, dict[str, Any]]:
        """What a commit lists, as the released files will be."""
        new = {path: {"sha256": entry.sha256, "bytes": entry.bytes} for path, entry in files.items()}
        for path, description in self.changed.items():
            if path.split("/")[0] not in KEPT_TABLES:
                new.pop(path, None)
                if description is not None:
                    new[path] = {"sha256": description["sha256"], "bytes": description["bytes"]}
        return dict(sorted(new.items()))

    def moves(self) -> Iterable[tuple[str, str | None]]:
        """(target, what lies ready for it), both relative to the output; None where nothing takes its place."""
        for path, description in self.changed.items():
            yield self._relative(self.uri(path)), None if description is None else self._relative(self.new_uri(path))

    def _relative(self, uri: str) -> str:
        return uri.removeprefix(f"{self._places.output.uri}/")
