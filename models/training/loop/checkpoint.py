"""A training on disk, whole at every moment: a checkpoint is written aside, flushed, and then takes the old one's name.

It holds the key of the training, because a resumed training must draw what it would have drawn: the same units, the same
noise for the same step. A step that is repeated after a crash is then the same release, not a second one. The file is for
its owner only, stays in the private folder, and goes when the training is complete.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from sottovoce.models.errors import RunError

NAME = "checkpoint.pt"


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Replaces the checkpoint in the folder; a crash at any moment leaves either the old one or the new one whole."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{NAME}.draft"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, folder / NAME)
    entry = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """None where there is none. Only tensors and plain values are read: a checkpoint cannot run code."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, AttributeError) as error:
        raise RunError(f"{path}: damaged, or not a checkpoint ({type(error).__name__})") from None


def remove_checkpoint(folder: Path) -> None:
    """Deletes the checkpoint and what a crash may have left of a new one; neither need be there."""
    for name in (NAME, f"{NAME}.draft"):
        (folder / name).unlink(missing_ok=True)
