"""Every night: sanitise what no committed run has taken, keep the last runs, forget nothing that was spent.

One night at a time (a lock in OUT). The memory of all nights is in the runs' own `_state` tables; a run that is retired
loses its records and keeps those. `run_night` stays until the night is committed; `submit_night` is for a driver that
cannot stay, and commits what the night before has submitted.
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

from sottovoce.models.errors import RunError, SottovoceError
from sottovoce.pipelines.cumulative_ledger import write_cumulative_ledger
from sottovoce.pipelines.detached import finish, submit
from sottovoce.pipelines.finished_runs import RETIRED, FinishedRun, finished_runs, state_tables, unfinished_runs
from sottovoce.pipelines.job_file import NightlySettings
from sottovoce.pipelines.run import Order, Prepared, execute, prepare
from sottovoce.pipelines.run_folder import COMMITTED, LOCK, MARKER, TRAINING, RunFolder, remove_tree
from sottovoce.pipelines.start_training import start_training
from sottovoce.pipelines.training_marker import read_marker
from sottovoce.pipelines.training_order import TrainingOrder
from sottovoce.transforms.state import FOLDER

NIGHT_LOCK, SECRET_CHECK = "_NIGHTLY.lock", "secret.json"


class AnotherNight(RunError):
    """Another night is at work on the same output."""


def run_night(order: Order, settings: NightlySettings, training: TrainingOrder | None = None) -> dict[str, Any]:
    """One night. Returns its summary: numbers, a status, names of runs."""
    began = time.monotonic()
    with _one_night_at_a_time(order.output):
        for folder in unfinished_runs(order.output):
            # What a killed night left: the corpus may have grown since, and then nobody would complete that very run.
            folder.take()
            remove_tree(folder.uri)
        prepared, is_new = _prepare_night(order, settings)
        committed, retired = None, []
        if is_new:
            committed = execute(prepared)
            is_new = bool(committed["counts"]["dialogues"] or committed["counts"]["failed"])
            if is_new:
                retired = _retire(order.output, settings.keep_runs)
            else:
                remove_tree(prepared.folder.uri)
        write_cumulative_ledger(order.output, settings.speaker_epsilon)
        started = _start_training(order.output, training) if training else []
        summary = _summary("committed" if is_new else "nothing_new", prepared.folder, committed, retired, began)
        return summary | {"training": started}


def submit_night(order: Order, settings: NightlySettings) -> dict[str, Any]:
    """Commit the night before, submit this one and leave. A night before that is still at work, or failed, stops it."""
    began = time.monotonic()
    for folder in unfinished_runs(order.output):
        finish(folder)
    retired = _retire(order.output, settings.keep_runs)
    write_cumulative_ledger(order.output, settings.speaker_epsilon)
    prepared, is_new = _prepare_night(order, settings)
    if is_new:
        submit(prepared)
    return _summary("submitted" if is_new else "nothing_new", prepared.folder, None, retired, began)


def _prepare_night(order: Order, settings: NightlySettings) -> tuple[Prepared, bool]:
    """The night, and whether it has anything to do: not on the very same corpus as a night before."""
    known = finished_runs(order.output)
    _check_secret(order, known)
    prepared = prepare(
        order,
        nightly=True,
        taken=state_tables(known, "dialogues"),
        spent=state_tables(known, "speakers"),
        speaker_epsilon=math.inf if settings.speaker_epsilon is None else settings.speaker_epsilon,
        beyond_budget=settings.beyond_budget,
    )
    return prepared, all(run.folder.name != prepared.folder.name for run in known)


def _check_secret(order: Order, known: list[FinishedRun]) -> None:
    """Under another secret no dialogue would be recognised, and every one would be released a second time."""
    nights = RunFolder(order.output, "_nights")
    check = order.secret.token("secret of the nights")  # a keyed hash: tells nothing of the secret
    if not known or not FileSystems.exists(nights.path(SECRET_CHECK)):
        nights.write_json(SECRET_CHECK, {"check": check})
    elif nights.read_json(SECRET_CHECK)["check"] != check:
        raise RunError(
            f"the secret is not the one of the nights before in {order.output}: every dialogue would be released again. "
            f"Use that secret, or another output"
        )


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


def _start_training(output: str, order: TrainingOrder) -> list[dict[str, Any]]:
    """Of the newest committed run, and of older ones whose start was decided and then cut off."""
    committed = [run.folder for run in finished_runs(output) if not run.retired]
    rows: list[dict[str, Any]] = []
    for folder in committed:
        marker = read_marker(folder)
        if folder is not committed[-1] and (marker is None or marker.state == "submitted"):
            continue
        row: dict[str, Any] = {"run_id": folder.name}
        try:
            started = start_training(folder.uri, order)
        except SottovoceError as error:  # the night itself is done: what it committed is told all the same
            row |= {"status": "not_started", "error": str(error)}
        else:
            handle = started.marker.handle
            row |= {"status": "started_before" if started.already else "started", "job": handle and handle.job_id}
        rows.append(row)
    return rows


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


def _retire(output: str, keep_runs: int) -> list[str]:
    """Remove the records of all but the newest runs; their state stays, under a name that says so, and their models."""
    kept = [run for run in finished_runs(output) if not run.retired]
    retired = []
    for run in kept[:-keep_runs]:
        folder = run.folder
        folder.take()
        record = run.record | {"shards": [shard for shard in run.record["shards"] if shard["sink"] == FOLDER]}
        folder.write_json(RETIRED, record)
        FileSystems.delete([folder.path(COMMITTED)])
        folder.clear(keep=(FOLDER, RETIRED, LOCK, MARKER, TRAINING))
        folder.release()
        retired.append(folder.name)
    return retired
