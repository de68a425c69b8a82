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
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.export.committed import CommittedRun
from sottovoce.models.gate import Check, Gate
from sottovoce.models.launch import TABLE, TrainingJob
from sottovoce.models.ledger.book import from_json
from sottovoce.models.settings import Spec, build, read_spec
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.run_folder import COMMITTED, TRAINING, RunFolder
from sottovoce.pipelines.training_marker import Marker, create_marker, one_at_a_time, read_marker, write_marker
from sottovoce.transforms.write import write_then_rename

TRAIN = ("-m", "sottovoce.pipelines.cli", "train")
SINK, LEDGER, AUDIT = "slu", "ledger.json", "audit.json"


class GateClosed(RunError):
    """The run did not pass its gate. Nothing was started."""


@dataclass(frozen=True)
class Started:
    marker: Marker
    already: bool


@dataclass(frozen=True)
class Launch:
    """A launch file: where training runs, and what a run must show before it may."""

    launch: Spec
    gate: Gate


def start_training(run_uri: str, train_yaml: str, launch: str = "local", retry: bool = False) -> Started:
    """`launch` is a name in runner_configs/training or a file; `retry` starts again after a job that ended badly."""
    plan, settings = read_launch(launch), read_train_yaml(train_yaml)
    folder = open_run(run_uri)
    committed = folder.committed()
    if committed is None:
        raise RunError(f"{folder.uri} is not a committed run: it has no {COMMITTED}")
    with one_at_a_time(folder):
        marker = read_marker(folder)
        if marker is None or (retry and _may_retry(marker)):
            marker = _decide(folder, committed, plan, settings, marker)
        if marker.state == "submitted":
            return Started(marker, already=True)
        return Started(_submit(folder, marker), already=False)


def _decide(
    folder: RunFolder, committed: dict[str, Any], plan: Launch, settings: str, earlier: Marker | None
) -> Marker:
    """Pass the gate and write the intent down."""
    checks = judge(folder, plan.gate, committed)
    attempt = earlier.attempt + 1 if earlier else 1
    digest = hashlib.sha256(json.dumps(committed, sort_keys=True).encode()).hexdigest()[:8]
    marker = Marker(
        run_id=folder.name,
        # The digest tells runs apart that share an id, such as one job on one corpus with two output folders.
        key=f"{folder.name}-{digest}" + (f"-{attempt}" if attempt > 1 else ""),
        attempt=attempt,
        launch={"use": plan.launch.name, **dict(plan.launch.options)},
        train_yaml=settings,
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
    audit = folder.read_json(AUDIT) if FileSystems.exists(folder.path(AUDIT)) else {}
    checks = gate.judge(committed["counts"], ledger, audit)
    failed = [f"{check.name}: {check.says}" for check in checks if check.passed is False]
    if failed:
        raise GateClosed(f"{folder.name}: the gate is closed; nothing was started\n  " + "\n  ".join(failed))
    return checks


def open_run(run_uri: str) -> RunFolder:
    """The run by its folder; a local one by its full path, since the job may run elsewhere."""
    uri = run_uri.rstrip("/") if "://" in run_uri else os.path.abspath(run_uri)
    return RunFolder(*FileSystems.split(uri))


def read_launch(launch: str) -> Launch:
    path = Path(launch)
    if path.suffix not in (".yaml", ".yml"):
        path = Path(str(resources.files("sottovoce.runner_configs") / "training" / f"{launch}.yaml"))
        if not path.exists():
            known = ", ".join(TABLE)
            raise SettingsError([f"--launch: {launch!r} is not known; allowed: {known}, or a YAML file"])
    values = _read_mapping(path, "--launch")
    unknown = [key for key in values if key not in ("launch", "gate")]
    if unknown:
        raise SettingsError([f"--launch {path}: {key}: unknown key; allowed: launch, gate" for key in unknown])
    return Launch(read_spec("launch", values.get("launch")), build(Gate, values.get("gate") or {}, "gate"))


def read_train_yaml(path: str) -> str:
    """The text of the settings, found good here: a job that waits in a queue for hours should not fail on a typo."""
    build(TrainSettings, _read_mapping(Path(path), "--config"), "train")
    return Path(path).read_text(encoding="utf-8")


def _read_mapping(path: Path, flag: str) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{flag} {path}: {error.strerror}; expected a YAML file"]) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise SettingsError([f"{flag} {path}: not YAML"]) from None
    if not isinstance(values, dict):
        raise SettingsError([f"{flag} {path}: expected a mapping at the top"])
    return values
