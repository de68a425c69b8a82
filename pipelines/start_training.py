"""Start training from a committed run whose gate passed, exactly once per run.

Outside the Beam graph, because a trigger inside it fires even if the run fails later. Training twice would spend the
privacy of the same people twice; so the decision is written down first (`training_marker`), the job is submitted
under a key made from the run, and a start that was killed anywhere in between goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.export.committed import CommittedRun
from sottovoce.models.gate import Check, Gate
from sottovoce.models.launch import TrainingJob
from sottovoce.models.ledger.book import from_json
from sottovoce.pipelines.run_folder import COMMITTED, TRAINING, RunFolder
from sottovoce.pipelines.training_marker import Marker, create_marker, one_at_a_time, read_marker, write_marker
from sottovoce.pipelines.training_order import SINK, TrainingOrder
from sottovoce.transforms.write import write_then_rename

TRAIN = ("-m", "sottovoce.pipelines.cli", "train")
LEDGER, AUDIT = "ledger.json", "audit.json"


class GateClosed(RunError):
    """The run did not pass its gate. Nothing was started."""


@dataclass(frozen=True)
class Started:
    marker: Marker
    already: bool


def start_training(run_uri: str, order: TrainingOrder, retry: bool = False) -> Started:
    """The job of the run, made now or before; `retry` starts again after a job that ended badly."""
    folder = open_run(run_uri)
    committed = folder.committed()
    if committed is None:
        raise RunError(f"{folder.uri} is not a committed run: it has no {COMMITTED}")
    with one_at_a_time(folder):
        marker = read_marker(folder)
        if marker is None or (retry and _may_retry(marker)):
            marker = _decide(folder, committed, order, marker)
        if marker.state == "submitted":
            return Started(marker, already=True)
        return Started(_submit(folder, marker), already=False)


def _decide(folder: RunFolder, committed: dict[str, Any], order: TrainingOrder, earlier: Marker | None) -> Marker:
    """Pass the gate and write the intent down."""
    plan = order.plan
    checks = judge(folder, plan.gate, committed)
    attempt = earlier.attempt + 1 if earlier else 1
    digest = hashlib.sha256(json.dumps(committed, sort_keys=True).encode()).hexdigest()[:8]
    marker = Marker(
        run_id=folder.name,
        # The digest tells runs apart that share an id, such as one job on one corpus with two output folders.
        key=f"{folder.name}-{digest}" + (f"-{attempt}" if attempt > 1 else ""),
        attempt=attempt,
        launch={"use": plan.launch.name, **dict(plan.launch.options)},
        train_yaml=order.settings,
        gate=tuple(f"{check.name}: {check.says}" for check in checks),
        decided=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )
    if earlier is None and create_marker(folder, marker):
        return marker
    # There is one: of the attempt that is retried, half of one, or of a start that came first, which is then taken.
    found = read_marker(folder)
    if found is not None and found != earlier:
        return found
    write_marker(folder, marker)
    return marker


def _may_retry(marker: Marker) -> bool:
    if marker.handle is None:
        return False  # decided but not submitted: to be completed, not repeated
    status = marker.launcher().status(marker.handle)
    if status.state in ("pending", "running"):
        raise RunError(f"job {marker.handle.job_id} is {status.state}: cancel it before a retry")
    if status.state == "succeeded":
        raise RunError(f"job {marker.handle.job_id} succeeded: training again would spend the privacy budget twice")
    return True


def _submit(folder: RunFolder, marker: Marker) -> Marker:
    job_folder = folder.path(TRAINING, f"job-{marker.attempt}")
    settings_path = FileSystems.join(job_folder, "train.yaml")
    # Always the marker's own text: a job that was submitted before a crash may be reading it.
    write_then_rename(settings_path, lambda file: file.write(marker.train_yaml.encode()))
    program = [
        *TRAIN,
        "--data",
        folder.path(SINK),
        "--config",
        settings_path,
        "--out",
        folder.path(TRAINING, "model"),
    ]
    if marker.attempt > 1:  # a checkpoint carries the privacy count of the attempts before
        program += ["--resume"]
    handle = marker.launcher().submit(TrainingJob(marker.key, tuple(program), job_folder))
    submitted = replace(marker, state="submitted", handle=handle)
    write_marker(folder, submitted)
    return submitted


def judge(folder: RunFolder, gate: Gate, committed: dict[str, Any]) -> list[Check]:
    """The checks of the gate, all passed or not asked; GateClosed names those that failed."""
    shards = CommittedRun(folder.uri, FileSystems.open)
    if not shards.rows(SINK):
        raise GateClosed(f"{folder.name}: the run has no {SINK} rows to train on; nothing was started")
    shards.verify([SINK])
    if not FileSystems.exists(folder.path(LEDGER)):
        raise RunError(f"{folder.uri} has no {LEDGER}: it is not whole")
    ledger = from_json(json.dumps(folder.read_json(LEDGER)))
    checks = gate.judge(committed["counts"], ledger, _read_audit(folder))
    failed = [f"{check.name}: {check.says}" for check in checks if check.passed is False]
    if failed:
        raise GateClosed(f"{folder.name}: the gate is closed; nothing was started\n  " + "\n  ".join(failed))
    return checks


def _read_audit(folder: RunFolder) -> dict[str, Any]:
    """Results of attacks on the run, put beside it by whoever attacked it."""
    if not FileSystems.exists(folder.path(AUDIT)):
        return {}
    try:
        audit = folder.read_json(AUDIT)
    except ValueError:
        audit = None
    if not isinstance(audit, dict):
        raise RunError(
            f"{folder.path(AUDIT)}: expected a JSON object of attack: {{value, low, high}}; nothing was started"
        )
    return audit


def open_run(run_uri: str) -> RunFolder:
    """The run by its folder; a local one by its full path, since the job may run elsewhere."""
    uri = run_uri.rstrip("/") if "://" in run_uri else os.path.abspath(run_uri)
    return RunFolder(*FileSystems.split(uri))
