"""Start training from a committed run whose gate passed, exactly once per run.

Outside the Beam graph, because a trigger inside it fires even if the run fails later. Training twice would spend the
privacy of the same people twice; so the decision is written down first (`training_marker`), the job is submitted
under a key made from the run, and a start that was killed anywhere in between goes on where it stopped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.evaluation.audit.judge import audit_seal, contradictions
from sottovoce.models.launch import TrainingJob
from sottovoce.models.ledger.book import from_json
from sottovoce.models.ledger.gate import AUDIT_NOT_ASKED, Check, Gate
from sottovoce.models.randomness import Secret
from sottovoce.models.runs.committed_run import CommittedRun
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.sanitize.run_folder import RunFolder, open_run, read_json, remove_tree
from sottovoce.pipelines.training.marker import Marker, create_marker, one_at_a_time, read_marker, write_marker
from sottovoce.pipelines.training.order import TrainingOrder
from sottovoce.pipelines.training.speaker_charges import UNITS, charge_of, write_charge, write_units
from sottovoce.transforms.write.shards import write_then_rename

TRAIN = ("-m", "sottovoce.pipelines.cli", "train")
LEDGER = "ledger.json"


class GateClosed(RunError):
    """The run did not pass its gate. Nothing was started."""


@dataclass(frozen=True)
class Started:
    """The marker of a run's training, and whether its job had been submitted before this start."""

    marker: Marker
    already: bool


def start_training(run_uri: str, order: TrainingOrder, retry: bool = False, secret: Secret | None = None) -> Started:
    """The job of the run, made now or before; `retry` starts again after a job that ended badly, or whose records were
    erased since. With the secret, the audit must have been written by whoever has it.

    What is submitted was opened by the audit that stands: one that begins meanwhile waits for the lock, and an intent that a
    crash has left is judged again, since the run may have been attacked again since."""
    folder = open_run(run_uri)
    run = open_committed(folder.uri)
    with one_at_a_time(folder):
        marker = read_marker(folder)
        _check_sink(marker, order, run_uri)
        if marker is None or (retry and _may_retry(marker)):
            audit = read_audit(folder, run.digest, secret)
            marker = _decide(folder, run, order, marker, audit)
            if read_audit(folder, run.digest, secret) != audit:  # in a bucket, which has no lock
                raise GateClosed(f"{run.run_id}: its audit is being made anew; nothing was started")
        elif marker.state == "intent":
            _check_still_held(marker, read_audit(folder, run.digest, secret))
        if marker.state == "submitted":
            return Started(marker, already=True)
        return Started(_submit(folder, marker), already=False)


def _check_sink(marker: Marker | None, order: TrainingOrder, run_uri: str) -> None:
    """A run is trained on once by start-training: a second task of it must not look as if it had been started."""
    if marker is not None and marker.sink != order.sink:
        raise RunError(
            f"{run_uri}: its training was started for the sink {marker.sink}, and train.yaml asks for {order.sink}; "
            f"train that one with: sottovoce train --data {run_uri} --config TRAIN.yaml --out DIR"
        )


def _check_still_held(marker: Marker, audit: dict[str, Any]) -> None:
    """Of a decision that was not submitted yet: what it asked of the run is asked of the audit that stands now."""
    asked = not any(line.startswith(AUDIT_NOT_ASKED) for line in marker.gate)
    if asked and audit.get("held") is not True:
        raise GateClosed(f"{marker.run_id}: was attacked again since its training was decided on, and did not hold")


def _decide(
    folder: RunFolder, run: CommittedRun, order: TrainingOrder, earlier: Marker | None, audit: dict[str, Any]
) -> Marker:
    """Pass the gate and write the intent down."""
    plan = order.plan
    checks = judge(run, plan.gate, audit, order.private, order.sink)
    attempt = earlier.attempt + 1 if earlier else 1
    charge = charge_of(folder, order.sink, order.parsed, plan.launch.make().processes)
    if charge is None and order.parsed.unit == "speaker":
        raise RunError(
            f"{run.run_id}: the run does not know whose its rows are (forget: off); train with unit: example"
        )
    model = _model_of(earlier, attempt)
    if charge is not None:
        write_charge(folder, model.get("model", "model"), charge.costs, charge.delta_of_a_person)
        write_units(folder.places.training(f"job-{attempt}", UNITS), charge)
    marker = Marker(
        run_id=folder.name,
        # The digest tells runs apart that share an id, such as one job on one corpus with two output folders.
        key=f"{folder.name}-{run.digest[:8]}" + (f"-{attempt}" if attempt > 1 else ""),
        attempt=attempt,
        launch={"use": plan.launch.name, **dict(plan.launch.options)},
        train_yaml=order.settings,
        gate=tuple(f"{check.name}: {check.says}" for check in checks),
        decided=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        commit=run.digest,
        sink=order.sink,
        max_epsilon=charge.epsilon if charge and order.private and charge.epsilon < math.inf else None,
        max_delta=charge.delta if charge and order.private else None,
        **model,
    )
    if earlier is not None and earlier.stale is not None:
        remove_tree(folder.places.trained())  # before the decision: afterwards the new model may be there already
    if earlier is None and create_marker(folder, marker):
        return marker
    # There is one: of the attempt that is retried, half of one, or of a start that came first, which is then taken.
    found = read_marker(folder)
    if found is not None and found != earlier:
        return found
    write_marker(folder, marker)
    return marker


def _model_of(earlier: Marker | None, attempt: int) -> dict[str, Any]:
    """An attempt goes on with the checkpoint of the one before, which carries its privacy count; but not with one that has
    seen records that were erased since."""
    if earlier is None:
        return {}
    if earlier.stale is not None:
        return {"model": f"model-{attempt}"}
    return {"model": earlier.model, "resume": True}


def _may_retry(marker: Marker) -> bool:
    if marker.handle is None:
        return False  # decided but not submitted: to be completed, not repeated
    status = marker.launcher().status(marker.handle)
    if status.state in ("pending", "running"):
        raise RunError(f"job {marker.handle.job_id} is {status.state}: cancel it before a retry")
    if status.state == "succeeded" and marker.stale is None:
        raise RunError(f"job {marker.handle.job_id} succeeded: training again would spend the privacy budget twice")
    return True


def _submit(folder: RunFolder, marker: Marker) -> Marker:
    job_folder = folder.places.training(f"job-{marker.attempt}")
    settings_path = FileSystems.join(job_folder, "train.yaml")
    # Always the marker's own text: a job that was submitted before a crash may be reading it.
    write_then_rename(settings_path, lambda file: file.write(marker.train_yaml.encode()), private=True)
    places = folder.places
    program = [*TRAIN, "--data", places.released(marker.sink), "--commit", marker.commit, "--config", settings_path]
    program += ["--out", places.trained(), "--private-out", places.training(marker.model)]
    units = FileSystems.join(job_folder, UNITS)
    if FileSystems.exists(units):
        program += ["--units", units]
    if marker.max_epsilon is not None:
        program += ["--max-epsilon", repr(marker.max_epsilon)]
    if marker.max_delta is not None:
        program += ["--max-delta", repr(marker.max_delta)]
    if marker.resume:
        program += ["--resume"]
    _remove_stale_models(folder, marker)
    handle = marker.launcher().submit(TrainingJob(marker.key, tuple(program), job_folder))
    submitted = replace(marker, state="submitted", handle=handle)
    write_marker(folder, submitted)
    return submitted


def _remove_stale_models(folder: RunFolder, marker: Marker) -> None:
    """Models that have seen what was erased since: the one that is trained now takes their place."""
    found = FileSystems.match([folder.places.training("model*", "**")])[0].metadata_list
    names = {item.path.removeprefix(folder.places.training("")).split("/")[0] for item in found}
    for name in names - {marker.model}:
        remove_tree(folder.places.training(name))


def judge(run: CommittedRun, gate: Gate, audit: dict[str, Any], private: bool, sink: str) -> list[Check]:
    """The checks of the gate, all passed or not asked; GateClosed names those that failed.

    What is judged is what was committed: every file of the run is read and compared before it is believed.
    """
    if not run.rows(sink):
        raise GateClosed(f"{run.run_id}: the run has no {sink} rows to train on; nothing was started")
    run.verify()
    ledger = from_json(run.read(LEDGER).decode())
    checks = gate.judge(run.record["counts"], ledger, audit, private)
    failed = [f"{check.name}: {check.says}" for check in checks if check.passed is False]
    if failed:
        raise GateClosed(f"{run.run_id}: the gate is closed; nothing was started\n  " + "\n  ".join(failed))
    return checks


def read_audit(folder: RunFolder, commit: str, secret: Secret | None = None) -> dict[str, Any]:
    """What attacks on this very commit found; empty where there is nothing. In the private folder of the run, where whoever
    may open the gate may write; it is believed only as far as it follows from its own figures, and with the secret only if
    it was written with it."""
    place = folder.places.audit
    if not FileSystems.exists(place):
        return {}
    try:
        audit = read_json(place)
        if audit["commit"] != commit:
            return {}
        made = bool(set(audit) - {"commit", "others"})  # else it holds what others found, and nothing held
        wrong = contradictions(audit) if made else []
    except (ValueError, KeyError, TypeError, AttributeError):
        made, wrong = False, ["damaged"]
    if made and not wrong and secret is not None and audit.get("seal") != audit_seal(secret, audit):
        wrong = ["not written by `sottovoce audit` with the secret of the run"]
    if wrong:
        raise RunError(f"{place}: {'; '.join(wrong)}; make it anew with `sottovoce audit`. Nothing was started")
    return audit
