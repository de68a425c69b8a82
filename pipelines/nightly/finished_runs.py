"""The runs in an output that count for those after them: committed ones, and retired ones.

A retired run has lost its records, to retention or because somebody moved its folder away; what it has taken and spent
stays in private state and is never forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.runs.places import COMMITTED, RUNS, STATE, OutputPlaces
from sottovoce.pipelines.sanitize.run_folder import RunFolder, read_json

DELTA = b"delta"  # of a training, with its table of charges


@dataclass(frozen=True)
class FinishedRun:
    """A run that later ones must know of: what it took is not taken again, and what it spent stays spent."""

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
        elif FileSystems.exists(folder.places.record):
            runs.append(FinishedRun(folder, read_json(folder.places.record), retired=True))
    return sorted(runs, key=lambda run: (run.record["created"], run.folder.name))


def moment_after(runs: Sequence[FinishedRun]) -> str:
    """Now, or a second after the newest run where that is later: runs are in order by this, and what is published of the time
    is no finer than seconds."""
    now = datetime.now(timezone.utc)
    moments = [datetime.fromisoformat(run.record["created"]) + timedelta(seconds=1) for run in runs]
    return max(now, *moments).isoformat(timespec="seconds") if moments else now.isoformat(timespec="seconds")


def unfinished_runs(output: str) -> list[RunFolder]:
    """Runs that were killed, or are at work."""
    finished = {run.folder.name for run in finished_runs(output)}
    return [folder for folder in _folders(output) if folder.name not in finished]


def state_tables(runs: Sequence[FinishedRun], name: str) -> tuple[str, ...]:
    """URIs of one kind of state of these runs."""
    return tuple(
        run.folder.places.private(table["path"])
        for run in runs
        for table in run.folder.tables()
        if table["path"].startswith(f"{STATE}/{name}-")
    )


def training_charges(runs: Sequence[FinishedRun]) -> tuple[str, ...]:
    """URIs of what the trainings of these runs were charged to people (`pipelines/training/speaker_charges.py`)."""
    found = FileSystems.match([run.folder.places.training("charges", "*.parquet") for run in runs])
    return tuple(item.path for match in found for item in match.metadata_list)


def training_delta(uri: str) -> float:
    """At most, for any one person; 1 where it was not written down (charges of earlier versions)."""
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return float((pq.read_schema(file).metadata or {}).get(DELTA, b"1"))


def spent_tables(runs: Sequence[FinishedRun]) -> tuple[str, ...]:
    """All that people were charged: by nights for what replacement reveals, and by trainings."""
    return (*state_tables(runs, "speakers"), *training_charges(runs))


def _folders(output: str) -> list[RunFolder]:
    """Of both roots: a run that failed may have left its files in one of them only."""
    places = OutputPlaces.of(output)
    private = places.private(RUNS)
    patterns = [f"{places.uri}/run-*/{name}" for name in (COMMITTED, "config.yaml")]
    patterns += [f"{private}/run-*/{name}" for name in ("*.json", "work/*", "work/*/*")]
    found = [item.path for match in FileSystems.match(patterns) for item in match.metadata_list]
    roots = (f"{private}/", f"{places.uri}/")
    names = {next(path.removeprefix(root) for root in roots if path.startswith(root)).split("/")[0] for path in found}
    return [RunFolder(output, name) for name in sorted(names)]
