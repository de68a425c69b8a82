"""A trained model as a folder that can be given away: weights, what they need to be used, and the privacy card."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sottovoce.models.errors import RunError
from sottovoce.models.settings import Spec, read_spec
from sottovoce.models.training.batches import Encoder
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks.network import IntentSlotNetwork
from sottovoce.models.training.privacy.card import as_page


def export_model(
    folder: Path, network: IntentSlotNetwork, member: Spec, labels: Labels, privacy_card: dict[str, Any]
) -> None:
    """Whole or not at all: written aside and renamed."""
    from safetensors.torch import save

    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    (draft / "weights.safetensors").write_bytes(save(weights))  # its own `save_file` shuts everybody else out
    options = dict(member.options)
    if options.get("pretrained"):
        made = member.make()
        network.reader.encoder.save_pretrained(draft / "encoder")
        made.encoder().tokenizer.save_pretrained(draft / "encoder")
        options["pretrained"] = "encoder"
    model = {"use": member.name, **options, "labels": asdict(labels)}
    (draft / "model.json").write_text(json.dumps(model, indent=2) + "\n")
    (draft / "privacy_card.json").write_text(json.dumps(finite(privacy_card), indent=2, allow_nan=False) + "\n")
    (draft / "PRIVACY_CARD.md").write_text(as_page(privacy_card))
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(draft, folder)


def load_model(folder: str | Path) -> tuple[IntentSlotNetwork, Encoder, Labels]:
    """An exported model, ready to answer."""
    from safetensors.torch import load_file

    folder = Path(folder)
    try:
        model = json.loads((folder / "model.json").read_text())
        names = model.pop("labels")
        labels = Labels(tuple(names["intents"]), tuple(names["slots"]))
    except (OSError, ValueError, KeyError):
        raise RunError(f"{folder}: not an exported model; expected model.json and weights.safetensors") from None
    if model.get("pretrained"):
        model["pretrained"] = str(folder / model["pretrained"])
    member = read_spec("training", model).make()
    network = member.network(labels)
    network.load_state_dict(load_file(folder / "weights.safetensors"))
    return network.eval(), member.encoder(), labels


def finite(value: Any) -> Any:
    """JSON has no infinity: it is written "inf"."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return "inf" if value == float("inf") else value
