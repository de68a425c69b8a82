"""Run one training: from a folder of safe examples and a settings file to a model with its privacy card.

OUT/ledger.json           what the training may spend, written before its first step; at the end what it did
   /model/                the model to give away, with its card
   /private/              checkpoint (with the secret of the run) and exact training curves: never give these away
   /_DONE.json            last write: the training is complete
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import yaml

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.ledger.book import faults_of
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.settings import build
from sottovoce.models.training.card import card, ledger_entry
from sottovoce.models.training.checkpoint import load_checkpoint, remove_checkpoint, save_checkpoint
from sottovoce.models.training.export import export_model, finite
from sottovoce.models.training.prepare import prepare
from sottovoce.models.training.processes import Processes, join
from sottovoce.models.training.start import start_trainer
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.trainer import NotFinite, Trainer
from sottovoce.pipelines.training_curves import Curves

DONE = "_DONE.json"
NOISE_ON = {
    "cpu": "AES-256 counter stream keyed by step and device from a secret of the run, Box-Muller normals",
    "cuda": "Philox with a 63-bit seed keyed by step and device from a secret of the run",
}


def train(data: str, config: str, out: str, resume: bool = False, secret: Secret | None = None) -> dict[str, Any]:
    """The privacy card. Runs alone or as one of the processes that torchrun starts; only the first one writes."""
    settings = read_settings(config)
    _check_committed(Path(data))
    processes = join(settings.device)
    try:
        return _train(data, settings, Path(out), resume, secret, processes)
    finally:
        processes.leave()


def _train(
    data: str, settings: TrainSettings, out: Path, resume: bool, secret: Secret | None, processes: Processes
) -> dict[str, Any]:
    done, state = processes.from_first(_found(out, resume) if processes.first else None)
    if done is not None:
        if processes.first:
            print(f"already complete: {out / 'model'}")
        return done
    kept = Secret(bytes.fromhex(state["secret"])) if state is not None else None
    key = processes.from_first(kept or secret or fresh_secret())
    prepared = prepare(data, settings, key)
    curves = Curves(out / "private" / "tensorboard", quiet=not processes.first)
    private = out / "private"
    trainer = start_trainer(
        settings, prepared, key, processes, curves, lambda kept: save_checkpoint(private, kept), state
    )
    book = _Book(out, trainer, processes.first)
    book.write("training", prepared)
    curves.begin(trainer, prepared, resumed=state is not None)
    try:
        progress = trainer.run()
    except NotFinite:
        book.write("stopped: the loss was not finite", prepared, trainer.progress.step + 1)
        raise
    values = card(trainer.bench.plan, prepared, progress, NOISE_ON[processes.device.type])
    if processes.first:
        export_model(out / "model", trainer.bench.network, settings.member, prepared.labels, values)
        book.write("complete", prepared, progress.step)
        _write_json(out / DONE, finite(values))
        remove_checkpoint(private)  # and the secret with it: nobody can take the noise off again
        curves.end(values, out)
    return values


class _Book:
    """ledger.json: the budget as planned, then as used."""

    def __init__(self, out: Path, trainer: Trainer, writes: bool):
        self._path, self._trainer, self._writes = out / "ledger.json", trainer, writes

    def write(self, state: str, prepared: Any, steps_taken: int | None = None) -> None:
        plan = self._trainer.bench.plan
        entry = ledger_entry(plan, prepared)
        faults = faults_of(entry)
        if faults:
            raise SettingsError(faults)
        if not self._writes:
            return
        at_stop = plan.sound(steps_taken) if steps_taken is not None else None
        book = {
            "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "state": state,
            "steps_planned": plan.steps,
            "steps_taken": self._trainer.progress.step if steps_taken is None else steps_taken,
            # what the steps themselves add up to; valid as a bound only if data had no say in when to stop
            "epsilon_of_steps_taken": at_stop.epsilon if at_stop else None,
            "mechanisms": [asdict(entry)],
        }
        _write_json(self._path, finite(book))


def read_settings(path: str) -> TrainSettings:
    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise SettingsError([f"--config {path}: {error.strerror}"]) from None
    except yaml.YAMLError:
        raise SettingsError([f"--config {path}: not a YAML file"]) from None
    if not isinstance(values, dict):
        raise SettingsError([f"--config {path}: expected a mapping of settings"])
    settings = build(TrainSettings, values, "train")
    settings.member.make()
    return settings


def _found(out: Path, resume: bool) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """(card of a complete training, checkpoint of an unfinished one) in the folder."""
    if (out / DONE).exists():
        if not resume:
            raise RunError(
                f"{out}: holds a complete training; training again would spend the budget twice. Use another --out"
            )
        return json.loads((out / DONE).read_text()), None
    state = load_checkpoint(out / "private")
    if state is not None and not resume:
        raise RunError(f"{out}: holds an unfinished training; go on with --resume, or use another --out")
    return None, state


def _check_committed(data: Path) -> None:
    """A folder of shards is the sink of a run, and counts once the run is committed."""
    if data.is_dir() and any(data.glob("part-*.parquet")) and not (data.parent / "_COMMITTED.json").exists():
        raise RunError(f"{data}: the run has no _COMMITTED.json: it is not complete and must not be trained on")


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".draft")
    draft.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n")
    os.replace(draft, path)


def figure(epsilon: float | str) -> str:
    return "infinite" if epsilon in ("inf", math.inf) else f"{float(epsilon):.4g}"
