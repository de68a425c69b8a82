"""Every night: sanitise what no committed run has taken, keep the last runs, forget nothing that was spent.

One writer at a time in OUT (`one_writer.py`). The memory of all nights is in the private state of the runs; a run that is
retired loses its records and keeps that. `run_night` stays until the night is committed; `submit_night` is for a driver that
cannot stay, and commits what the night before has submitted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from sottovoce.models.errors import SottovoceError
from sottovoce.pipelines.audit.after_commit import audit_commit
from sottovoce.pipelines.audit.audit_run import AuditRequest, audit
from sottovoce.pipelines.nightly.cumulative_ledger import write_cumulative_ledger
from sottovoce.pipelines.nightly.finished_runs import finished_runs, spent_tables, state_tables, unfinished_runs
from sottovoce.pipelines.remote.detached import finish, submit
from sottovoce.pipelines.sanitize.job_file import NightlySettings
from sottovoce.pipelines.sanitize.one_secret import claim_output
from sottovoce.pipelines.sanitize.one_writer import one_writer
from sottovoce.pipelines.sanitize.run import Run, RunRequest, execute, prepare
from sottovoce.pipelines.sanitize.run_folder import RunFolder
from sottovoce.pipelines.training.marker import read_marker
from sottovoce.pipelines.training.order import TrainingOrder
from sottovoce.pipelines.training.start_training import start_training


def run_night(request: RunRequest, settings: NightlySettings, training: TrainingOrder | None = None) -> dict[str, Any]:
    """One night. Returns its summary: numbers, a status, names of runs."""
    began = time.monotonic()
    with one_writer(request.output, "nightly"):
        for folder in unfinished_runs(request.output):
            # What a killed night left: the corpus may have grown since, and then nobody would complete that very run.
            folder.remove()
        prepared, is_new = _prepare_night(request, settings)
        committed, retired, forgotten = None, [], 0
        if is_new:
            committed = execute(prepared)
            forgotten = prepared.folder.left_out()
            is_new = bool(committed["counts"]["dialogues"] or committed["counts"]["failed"])
            if is_new:
                retired = _retire(request.output, settings.keep_runs)
            else:
                prepared.folder.remove()
        write_cumulative_ledger(request.output, settings.speaker_epsilon)
        audited = _told(audit_commit, prepared) if is_new and request.job_file.sections["audit"].nightly else None
        started = _start_training(request, training) if training else []
        summary = _summary("committed" if is_new else "nothing_new", prepared.folder, committed, retired, began)
        return summary | {"turns_forgotten": forgotten, "audit": audited, "training": started}


def _told(attacked: Callable[..., dict[str, Any]], *of: Any) -> dict[str, Any]:
    """Whether a run held. It is committed whatever is found: what follows, the gate decides."""
    try:
        content = attacked(*of)
    except SottovoceError as error:
        return {"status": "failed", "error": str(error)}
    return {"status": "held" if content["held"] else "did_not_hold", "reasons": content["reasons"]}


def submit_night(request: RunRequest, settings: NightlySettings) -> dict[str, Any]:
    """Commit the night before, submit this one, attack the one before and leave. A night before that is still at work, or
    failed, stops it. The lock is the submitted night's by then: an audit reads what is committed."""
    began = time.monotonic()
    before = unfinished_runs(request.output)
    with one_writer(request.output, "nightly", finishing=before[0].name if before else None) as lock:
        for folder in before:
            finish(folder, lock, lambda: request.secret)
        retired = _retire(request.output, settings.keep_runs)
        write_cumulative_ledger(request.output, settings.speaker_epsilon)
        prepared, is_new = _prepare_night(request, settings)
        if is_new:
            submit(prepared, lock)
    summary = _summary("submitted" if is_new else "nothing_new", prepared.folder, None, retired, began)
    asked = request.job_file.sections["audit"].nightly
    return summary | {
        "audits": {folder.name: _told(_audit_finished, request, folder) for folder in before} if asked else {}
    }


def _audit_finished(request: RunRequest, folder: RunFolder) -> dict[str, Any]:
    """A night that was submitted is attacked by the one that finds it ended, which has corpus and secret at hand."""
    return audit(AuditRequest(folder.uri, request.job_file, request.input_uri, request.secret), folder)


def _prepare_night(request: RunRequest, settings: NightlySettings) -> tuple[Run, bool]:
    """The night, and whether it has anything to do: not on the very same corpus as a night before."""
    known = finished_runs(request.output)
    claim_output(request.output, request.secret)
    prepared = prepare(
        request,
        nightly=True,
        taken=state_tables(known, "dialogues"),
        spent=spent_tables(known),
        speaker_epsilon=math.inf if settings.speaker_epsilon is None else settings.speaker_epsilon,
        beyond_budget=settings.beyond_budget,
    )
    return prepared, all(run.folder.name != prepared.folder.name for run in known)


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


def _start_training(request: RunRequest, order: TrainingOrder) -> list[dict[str, Any]]:
    """Of the newest committed run, and of older ones whose start was decided and then cut off."""
    committed = [run.folder for run in finished_runs(request.output) if not run.retired]
    rows: list[dict[str, Any]] = []
    for folder in committed:
        marker = read_marker(folder)
        if folder is not committed[-1] and (marker is None or marker.state == "submitted"):
            continue
        row: dict[str, Any] = {"run_id": folder.name}
        try:
            started = start_training(folder.uri, order, secret=request.secret)
        except SottovoceError as error:  # the night itself is done: what it committed is told all the same
            row |= {"status": "not_started", "error": str(error)}
        else:
            handle = started.marker.handle
            row |= {"status": "started_before" if started.already else "started", "job": handle and handle.job_id}
        rows.append(row)
    return rows


def _retire(output: str, keep_runs: int) -> list[str]:
    """Remove the records of all but the newest runs."""
    retired = [run for run in finished_runs(output) if not run.retired][:-keep_runs]
    for run in retired:
        run.folder.retire(run.record)
    return [run.folder.name for run in retired]
