"""Release a language model of noisy counts: one Gaussian release in place of a training, under the same ledger and budget."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.book import faults_of
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.training.loop.checkpoint import remove_checkpoint, save_checkpoint
from sottovoce.models.training.loop.export import finite, write_card
from sottovoce.models.training.loop.prepare import Prepared, prepare
from sottovoce.models.training.loop.start import check_identity, identity
from sottovoce.models.training.networks.language import keep_vocabulary
from sottovoce.models.training.ngrams.noisy_counts import CountsModel, count_units, counting_epsilon, counting_z
from sottovoce.models.training.privacy.card import in_a_group
from sottovoce.models.training.privacy.plan import check_enough, delta_for
from sottovoce.models.training.tasks.lm import LanguageModelling
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import Units
from sottovoce.pipelines.training.charged import Charged
from sottovoce.pipelines.training.speaker_charges import charge_run
from sottovoce.pipelines.training.training_places import TrainingPlaces

MECHANISM = "3-grams counted under Gaussian noise"
ARPA = "lm.arpa"


def count_model(
    data: str,
    settings: TrainSettings,
    places: TrainingPlaces,
    commit: str | None,
    units: Units | None,
    charged: Charged,
    origin: dict[str, Any],
    state: dict[str, Any] | None = None,
    processes: int = 1,
) -> dict[str, Any]:
    """The card. The key is on disk before anything is drawn from it: a release that was cut off, perhaps after its model
    was seen, repeats the same draws (`state`) and is the release that was charged, not a second one."""
    member = settings.member.make()
    key = fresh_secret() if state is None else Secret(bytes.fromhex(state["key"]))
    prepared = prepare(data, settings, key, commit, units)
    settings = prepared.settings or settings
    name = identity(settings, prepared)
    check_identity(state, name)
    n = len(prepared.units)
    check_enough(settings, n, processes)
    delta = delta_for(settings, n)
    z = settings.z0 if settings.z0 is not None else counting_z(settings.target_epsilon or 0.0, delta)
    epsilon = counting_epsilon(z, delta)
    charged.check(epsilon, delta)
    entry = _entry(settings, member, prepared, epsilon, delta, z)
    if problems := faults_of(entry):
        raise RunError("; ".join(problems))
    if not charged.before:
        charge_run(data, settings, epsilon, delta, key)
    places.make()
    save_checkpoint(places.private, {"identity": name, "key": key.value.hex()})
    _write_book(places, entry, "counting")
    print(f"counting {n} {settings.protects}s; budget: epsilon {epsilon:.4g} at delta {delta:.3g} (z = {z:.4g})")
    lines = [[prepared.train[row].words for row in rows] for rows in prepared.units]
    model = count_units(lines, member, z, delta, key)
    scores = LanguageModelling().scores_of(
        [model.losses(line.words) for line in prepared.validation], prepared.validation
    )
    card = _card(entry, settings, prepared, epsilon, delta, scores)
    with places.to_give_away():
        _export(places.model, model, settings, card, origin)
        _write_book(places, entry, "complete")
    places.done.write_text(json.dumps(finite(card)))
    remove_checkpoint(places.private)  # and the key with it: nobody can take the noise off again
    print(f"model with its privacy card: {places.model} ({ARPA} for recognisers)")
    return card


def _entry(
    settings: TrainSettings, member: CountsModel, prepared: Prepared, epsilon: float, delta: float, z: float
) -> LedgerEntry:
    unit = settings.protects
    return LedgerEntry(
        stage="training",
        mechanism=MECHANISM,
        says=f"Whoever sees the model changes the odds of one {unit} having been counted by at most a factor e^{epsilon:.3g}, "
        f"except with probability {delta:.3g}.",
        not_protected=(
            "the vocabulary, which is a public list and owes nothing to the data",
            f"n-grams of a {unit} beyond {member.per_unit} of each order are not used at all",
            "settings chosen after looking at results on the same data",
        ),
        parameters={"unit": unit, "per_unit": member.per_unit, "z": z, "delta": delta, "n": len(prepared.units)},
        adjacency="add_remove",
        assumptions=(f"neighbours differ by one {unit} more or less", f"the number of {unit}s is public"),
        sound={unit: epsilon},
    )


def _card(
    entry: LedgerEntry,
    settings: TrainSettings,
    prepared: Prepared,
    epsilon: float,
    delta: float,
    scores: dict[str, float] | None,
) -> dict[str, Any]:
    return {
        "mechanism": MECHANISM,
        "task": "lm",
        "unit": settings.protects,
        "speaker_by_group_privacy": _of_a_speaker(settings, prepared, epsilon, delta),
        "epsilon": epsilon,
        "epsilon_published_formula": None,
        "delta": delta,
        "adjacency": entry.adjacency,
        "assumptions": list(entry.assumptions),
        "not_protected": list(entry.not_protected),
        "noise_source": "AES-256 counter stream of a fresh key, Box-Muller normals",
        "parameters": entry.parameters,
        "steps_planned": 1,
        "steps_taken": 1,
        "stopped_early": False,
        "validation": scores,
        "validation_is_public": settings.validation_is_public,
        "nothing_learnt": LanguageModelling().nothing_learnt(scores) if scores else None,
    }


def _of_a_speaker(settings: TrainSettings, prepared: Prepared, epsilon: float, delta: float) -> dict[str, Any] | None:
    most = prepared.most_of_a_speaker
    return None if settings.protects == "speaker" or most is None else in_a_group(most, epsilon, delta)


def _export(folder: Path, model: Any, settings: TrainSettings, card: dict[str, Any], origin: dict[str, Any]) -> None:
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    with (draft / ARPA).open("w", encoding="utf-8") as file:
        model.write(file)
    spec = settings.member
    options = dict(spec.options) | keep_vocabulary(spec.make().vocabulary, draft)
    described = {"use": spec.name, **options, "task": "lm", "labels": {}, "origin": origin}
    (draft / "model.json").write_text(json.dumps(described, indent=2) + "\n")
    write_card(draft, card)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(draft, folder)


def _write_book(places: TrainingPlaces, entry: LedgerEntry, state: str) -> None:
    written = datetime.now(timezone.utc).isoformat(timespec="seconds")
    book = {"written": written, "state": state, "steps_planned": 1, "mechanisms": [asdict(entry)]}
    with places.to_give_away():
        places.ledger.parent.mkdir(parents=True, exist_ok=True)
        places.ledger.write_text(json.dumps(finite(book), indent=2) + "\n")
