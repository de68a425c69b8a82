"""Run one training: from safe examples and a settings file to a model with its privacy card (`training_places`)."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.ledger.book import faults_of, from_json
from sottovoce.models.ledger.gate import unbounded_replacement
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.runs.committed_run import open_local
from sottovoce.models.settings import build
from sottovoce.models.training.loop.checkpoint import load_checkpoint, remove_checkpoint, save_checkpoint
from sottovoce.models.training.loop.export import export_model, finite
from sottovoce.models.training.loop.prepare import prepare
from sottovoce.models.training.loop.processes import Processes, join
from sottovoce.models.training.loop.start import start_trainer
from sottovoce.models.training.loop.trainer import NotFinite, Trainer
from sottovoce.models.training.privacy.card import card, ledger_entry
from sottovoce.models.training.rows import run_around
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import Units, read_units, units_of_run
from sottovoce.pipelines.training.charged import NOTHING, Charged
from sottovoce.pipelines.training.count_model import count_model
from sottovoce.pipelines.training.curves import Curves
from sottovoce.pipelines.training.marker import was_started
from sottovoce.pipelines.training.speaker_charges import charge_by_hand
from sottovoce.pipelines.training.training_places import TrainingPlaces
from sottovoce.pipelines.yaml_settings import read_mapping

NOISE_ON = {
    "cpu": "AES-256 counter stream keyed by step and device from a fresh key of this training, Box-Muller normals",
    "cuda": "Philox with a 63-bit seed keyed by step and device from a fresh key of this training",
}


def train(
    data: str,
    config: str,
    places: TrainingPlaces,
    resume: bool = False,
    commit: str | None = None,
    units: str | None = None,
    charged: Charged = NOTHING,
) -> dict[str, Any]:
    """The privacy card. Runs alone or as one of the processes that torchrun starts; only the first one writes.

    `commit` is the sha256 of the commit that passed its gate, where one was judged: no other one is trained on. What was not
    decided by start-training, for this very folder, is judged and charged as a training by hand. `units` is
    the table of whose its rows are, and `charged` what their people were charged: a plan beyond it is refused.
    """
    settings = read_settings(config)
    charged = replace(charged, before=was_started(data, commit, places.private))
    if not charged.before and settings.mode == "plain":
        _check_replacement(Path(data))
    processes = join(settings.device)
    try:
        with places.opened():
            whose = read_units(units) if units else _units_beside(data, settings)
            done, state = processes.from_first(_found(places, resume) if processes.first else None)
            if done is not None:
                if processes.first:
                    print(f"already complete: {places.model}")
                return done
            if settings.member.make().counts:
                return count_model(
                    data, settings, places, commit, whose, charged, _origin(data), state, processes.count
                )
            return _train(data, settings, places, state, commit, processes, whose, charged)
    finally:
        processes.leave()


def _train(
    data: str,
    settings: TrainSettings,
    places: TrainingPlaces,
    state: dict[str, Any] | None,
    commit: str | None,
    processes: Processes,
    units: Units | None,
    charged: Charged,
) -> dict[str, Any]:
    key = Secret(bytes.fromhex(processes.from_first(state["key"] if state is not None else fresh_secret().value.hex())))
    prepared = prepare(data, settings, key, commit, units)
    settings = prepared.settings or settings
    curves = Curves(places.private / "tensorboard", quiet=not processes.first)
    trainer = start_trainer(
        settings, prepared, key, processes, curves, lambda kept: save_checkpoint(places.private, kept), state
    )
    book = _Book(places, trainer, processes.first)
    sound = trainer.bench.plan.sound()
    charged.check(sound.epsilon if sound else None, trainer.bench.plan.delta)
    if processes.first:
        if not charged.before:
            charge_by_hand(data, settings, trainer.bench.plan, key)
        places.make()
    book.write("training", prepared)
    curves.begin(trainer, prepared, resumed=state is not None)
    try:
        progress = trainer.run()
    except NotFinite:
        book.write("stopped: the loss was not finite", prepared, trainer.progress.step + 1)
        raise
    values = card(trainer.bench.plan, prepared, progress, NOISE_ON[processes.device.type])
    if processes.first:
        with places.to_give_away():
            origin = _origin(data)
            if settings.public_weights is not None:
                weights = Path(settings.public_weights) / "weights.safetensors"
                origin["public_weights"] = hashlib.sha256(weights.read_bytes()).hexdigest()
            export_model(places.model, trainer.bench.network, settings.member, prepared.labels, values, origin)
        book.write("complete", prepared, progress.step)
        _write_json(places.done, finite(values))
        remove_checkpoint(places.private)  # and the key with it: nobody can take the noise off again
        curves.end(values, places.model)
    return values


def _units_beside(data: str, settings: TrainSettings) -> Units | None:
    folder = run_around(Path(data))
    return None if folder is None else units_of_run(folder, task_of(settings.task).sink)


def _origin(data: str) -> dict[str, Any]:
    """Which commit a model was made of. Data that nobody committed are named by nothing: a hash would confirm guesses."""
    folder = run_around(Path(data))
    if folder is None:
        return {"run": None, "commit": None}
    run = open_local(str(folder))
    return {"run": run.run_id, "commit": run.digest}


class _Book:
    """ledger.json: the budget as planned, then as used."""

    def __init__(self, places: TrainingPlaces, trainer: Trainer, writes: bool):
        self._places, self._trainer, self._writes = places, trainer, writes

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
        with self._places.to_give_away():
            _write_json(self._places.ledger, finite(book))


def read_settings(path: str) -> TrainSettings:
    """The settings file, checked; options that the model itself would refuse are refused here, before any work."""
    settings = build(TrainSettings, read_mapping(path, "--config"), "train")
    settings.member.make()
    return settings


def _found(places: TrainingPlaces, resume: bool) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """(card of a complete training, checkpoint of an unfinished one) in the folder."""
    if places.done.exists():
        if not resume:
            raise RunError(
                f"{places.out}: holds a complete training; training again would spend the budget twice. Use another --out"
            )
        return json.loads(places.done.read_text()), None
    state = load_checkpoint(places.private)
    if state is not None and not resume:
        raise RunError(f"{places.out}: holds an unfinished training; go on with --resume, or use another --out")
    return None, state


def _check_replacement(data: Path) -> None:
    """A model without privacy of its own gives away what its texts give away: the run must say how much that is."""
    folder = run_around(data)
    if folder is None:
        return
    unbounded = unbounded_replacement(from_json(open_local(str(folder)).read("ledger.json").decode()))
    if unbounded:
        raise RunError(f"{folder}: {unbounded} in the gate of start-training; nothing was trained")


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".draft")
    draft.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n")
    os.replace(draft, path)


def figure(epsilon: float | str) -> str:
    """For people: four digits, or `infinite`, which a card writes as 'inf'."""
    return "infinite" if epsilon in ("inf", math.inf) else f"{float(epsilon):.4g}"
