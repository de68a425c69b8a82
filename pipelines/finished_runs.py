"""The runs in an output folder that count for the nights after them: committed ones, and retired ones.

A retired run has lost its records to retention; `_RETIRED.json` is what was its `_COMMITTED.json`, and its `_state` tables
stay: what was taken and spent is never forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apache_beam.io.filesystems import FileSystems

from sottovoce.pipelines.run_folder import RunFolder
from sottovoce.transforms.state import tables_of

RETIRED = "_RETIRED.json"


@dataclass(frozen=True)
class FinishedRun:
    folder: RunFolder
    record: dict[str, Any]  # of its commit
    retired: bool

    @property
    def charged(self) -> bool:
        """Nights charge speakers; a plain `sanitize` into the same folder does not."""
        return "budget" in self.record["counts"]["stages"] or not self.record["counts"]["dialogues"]


def finished_runs(output: str) -> list[FinishedRun]:
    """Oldest first."""
    runs = []
    for folder in _folders(output):
        committed = folder.committed()
        if committed is not None:
            runs.append(FinishedRun(folder, committed, retired=False))
        elif FileSystems.exists(folder.path(RETIRED)):
            runs.append(FinishedRun(folder, folder.read_json(RETIRED), retired=True))
    return sorted(runs, key=lambda run: (run.record["created"], run.folder.name))


def unfinished_runs(output: str) -> list[RunFolder]:
    """Runs that were killed, or are at work."""
    finished = {run.folder.name for run in finished_runs(output)}
    return [folder for folder in _folders(output) if folder.name not in finished]


def state_tables(runs: Sequence[FinishedRun], name: str) -> tuple[str, ...]:
    return tuple(uri for run in runs for uri in tables_of(run.folder.uri, run.record, name))


def _folders(output: str) -> list[RunFolder]:
    """A run that failed has given its lock back; its copy of the job still shows it."""
    patterns = [FileSystems.join(output, "run-*", name) for name in ("_*.json", "config.yaml")]
    found = [item.path for match in FileSystems.match(patterns) for item in match.metadata_list]
    names = sorted({FileSystems.split(FileSystems.split(path)[0])[1] for path in found})
    return [RunFolder(output, name) for name in names]
