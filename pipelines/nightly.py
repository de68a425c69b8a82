"""Every night: sanitise what no committed run has taken, keep the last runs, forget nothing that was spent.

One night at a time (a lock in OUT). The memory of all nights is in the runs' own `_state` tables; a run that is retired
loses its records and keeps those.
"""

from __future__ import annotations

import fcntl
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.pipelines.job_file import NightlySettings
from sottovoce.pipelines.run import Order, execute, prepare
from sottovoce.pipelines.run_folder import COMMITTED, LOCK, MARKER, TRAINING, RunFolder, remove_tree
from sottovoce.transforms.state import FOLDER, tables_of

RETIRED, NIGHT_LOCK = "_RETIRED.json", "_NIGHTLY.lock"


class AnotherNight(RunError):
    """Another night is at work on the same output."""


def run_night(order: Order, settings: NightlySettings) -> dict[str, Any]:
    """One night. Returns its summary: numbers, a status, names of runs."""
    began = time.monotonic()
    with _one_night_at_a_time(order.output):
        _clear_unfinished(order.output)
        known = _finished_runs(order.output)
        prepared = prepare(
            order,
            nightly=True,
            taken=_tables(known, "dialogues"),
            spent=_tables(known, "speakers"),
            speaker_epsilon=math.inf if settings.speaker_epsilon is None else settings.speaker_epsilon,
            beyond_budget=settings.beyond_budget,
        )
        if any(folder.name == prepared.folder.name for folder, _ in known):
            return _summary("nothing_new", prepared.folder, None, [], began)  # the very same corpus, done before
        committed = execute(prepared)
        if not committed["counts"]["dialogues"] and not committed["counts"]["failed"]:
            remove_tree(prepared.folder.uri)
            return _summary("nothing_new", prepared.folder, committed, [], began)
        retired = _retire(order.output, settings.keep_runs)
        return _summary("committed", prepared.folder, committed, retired, began)


def _summary(
    status: str, folder: RunFolder, committed: dict[str, Any] | None, retired: list[str], began: float
) -> dict[str, Any]:
    counts = committed["counts"] if committed else {}
    skipped = counts.get("stages", {}).get("skip taken", {}).get("reasons", {})
    return {
        "status": status,
        "run_id": folder.name,
        "read": counts.get("read", 0),
        "new_dialogues": counts.get("dialogues", 0),
        "turns_taken_before": skipped.get("dialogue_taken", 0),
        "turns_of_grown_dialogues": skipped.get("dialogue_grew", 0),
        "failed": counts.get("failed", 0),
        "rows": counts.get("rows", {}),
        "retired": retired,
        "seconds": round(time.monotonic() - began, 1),
    }


@contextmanager
def _one_night_at_a_time(output: str) -> Iterator[None]:
    """The system releases the lock when its process ends, however it ends. Buckets cannot be locked: schedule one night."""
    if "://" in output:
        yield
        return
    os.makedirs(output, exist_ok=True)
    with open(os.path.join(output, NIGHT_LOCK), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AnotherNight(f"another night is at work in {output}; this one did nothing") from None
        yield


def _folders(output: str) -> list[RunFolder]:
    found = FileSystems.match([FileSystems.join(output, "run-*", "_*.json")])[0].metadata_list
    names = sorted({FileSystems.split(FileSystems.split(item.path)[0])[1] for item in found})
    return [RunFolder(output, name) for name in names]


def _finished_runs(output: str) -> list[tuple[RunFolder, dict[str, Any]]]:
    """Runs that count, retired ones included, oldest first."""
    runs = []
    for folder in _folders(output):
        record = folder.committed()
        if record is None and FileSystems.exists(folder.path(RETIRED)):
            record = folder.read_json(RETIRED)
        if record is not None:
            runs.append((folder, record))
    return sorted(runs, key=lambda run: (run[1]["created"], run[0].name))


def _tables(runs: list[tuple[RunFolder, dict[str, Any]]], name: str) -> tuple[str, ...]:
    return tuple(uri for folder, record in runs for uri in tables_of(folder.uri, record, name))


def _clear_unfinished(output: str) -> None:
    """What a killed night left: the corpus may have grown since, and then nobody would complete that very run."""
    for folder in _folders(output):
        if folder.committed() is None and not FileSystems.exists(folder.path(RETIRED)):
            folder.take()
            remove_tree(folder.uri)


def _retire(output: str, keep_runs: int) -> list[str]:
    """Remove the records of all but the newest runs; their state stays, under a name that says so, and their models."""
    kept = [(folder, record) for folder, record in _finished_runs(output) if folder.committed() is not None]
    retired = []
    for folder, record in kept[:-keep_runs]:
        folder.take()
        record = record | {"shards": [shard for shard in record["shards"] if shard["sink"] == FOLDER]}
        folder.write_json(RETIRED, record)
        FileSystems.delete([folder.path(COMMITTED)])
        folder.clear(keep=(FOLDER, RETIRED, LOCK, MARKER, TRAINING))
        folder.release()
        retired.append(folder.name)
    return retired
