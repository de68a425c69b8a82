"""A trained model as a folder that can be given away: weights, what they need to be used, and the privacy card."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import nn

from sottovoce.models.errors import RunError
from sottovoce.models.settings import Spec, read_spec
from sottovoce.models.training.ngrams.backoff import read_arpa
from sottovoce.models.training.privacy.card import as_page, published
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.tasks.task import Task

BESIDE = ("pretrained", "vocabulary", "vectors")  # options of a model that name files, which are exported with it


@dataclass(frozen=True)
class TrainedModel:
    """An exported model, ready to answer."""

    task: Task
    member: Any
    network: Any
    labels: Any

    def answers(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Answers to lines of text, or to paths of recordings, in order; what an answer holds depends on the task."""
        return self.task.predict(self.network, self.member, self.labels, lines)


def export_model(
    folder: Path, network: nn.Module, member: Spec, labels: Any, privacy_card: dict[str, Any], origin: dict[str, Any]
) -> None:
    """Whole or not at all: written aside and renamed. `origin` says which run and which settings it came from."""
    from safetensors.torch import save

    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    (draft / "weights.safetensors").write_bytes(save(weights))  # its own `save_file` shuts everybody else out
    made = member.make()
    options = dict(member.options) | made.keep_beside(network, draft)
    model = {"use": member.name, **options, "task": made.task, "labels": asdict(labels), "origin": origin}
    (draft / "model.json").write_text(json.dumps(model, indent=2) + "\n", "utf-8")
    write_card(draft, privacy_card)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(draft, folder)


def write_card(folder: Path, privacy_card: dict[str, Any]) -> None:
    """Writes the privacy card as JSON and as a page, without scores on private examples."""
    shown = published(privacy_card)
    (folder / "privacy_card.json").write_text(json.dumps(finite(shown), indent=2, allow_nan=False) + "\n", "utf-8")
    (folder / "PRIVACY_CARD.md").write_text(as_page(shown), "utf-8")


def load_trained(folder: str | Path) -> TrainedModel:
    """The model in a folder that `export_model` wrote; a RunError where a file is missing or cannot be read."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(folder)
    try:
        model = json.loads((folder / "model.json").read_text("utf-8"))
        names, task = model.pop("labels"), task_of(model.pop("task", "slu"))
        labels = task.load_schema(names)
    except (OSError, ValueError, KeyError):
        raise RunError(f"{folder}: not an exported model; expected model.json and weights.safetensors") from None
    model.pop("origin", None)
    # what lies beside the weights is named from there
    model |= {key: str(folder / value) for key, value in model.items() if key in BESIDE and value}
    member = read_spec("training", model).make()
    if member.counts:
        return TrainedModel(task, member, read_arpa(folder / "lm.arpa"), labels)
    network = member.network(labels)
    try:
        network.load_state_dict(load_file(folder / "weights.safetensors"))
    except (OSError, RuntimeError, SafetensorError):
        raise RunError(f"{folder / 'weights.safetensors'}: missing, broken, or of another network") from None
    return TrainedModel(task, member, network.eval(), labels)


def begin_from(network: nn.Module, folder: str, task: str) -> None:
    """Give the network the weights of an exported model, all of them.

    A model of a run is refused: its people were charged for that model, and this training would count them as nobody.
    """
    found = load_trained(folder)
    origin = json.loads((Path(folder) / "model.json").read_text("utf-8")).get("origin", {})
    if found.member.task != task or found.member.counts:
        raise RunError(f"public_weights: {folder}: not a network of task {task}")
    if origin.get("run") is not None:
        raise RunError(f"public_weights: {folder}: was trained on run {origin['run']}, whose people are not public")
    theirs, own = found.network.state_dict(), network.state_dict()
    if unlike := [name for name in sorted({*theirs, *own}) if _shape(theirs, name) != _shape(own, name)]:
        raise RunError(
            f"public_weights: {folder}: {unlike[0]} is of shape {_shape(theirs, unlike[0])}, here of {_shape(own, unlike[0])}; "
            "give `model` the options that it was trained with"
        )
    network.load_state_dict(theirs)


def _shape(weights: dict[str, Any], name: str) -> tuple[int, ...] | None:
    return tuple(weights[name].shape) if name in weights else None


def load_model(folder: str | Path) -> tuple[Any, Any, Any]:
    """(network, encoder, labels) of an exported model of task slu."""
    found = load_trained(folder)
    return found.network, found.member.encoder(), found.labels


def finite(value: Any) -> Any:
    """JSON has no infinity: it is written "inf"."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return "inf" if value == float("inf") else value
