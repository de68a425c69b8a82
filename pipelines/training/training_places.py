"""Where a training writes: what may be given away, and what may not.

OUT/ledger.json           what the training may spend, written before its first step; at the end what it did
   /model/                the model to give away, with its card
PRIVATE/                  mode 0700, files 0600
       /checkpoint.pt     with the key of this training; gone at the end
       /tensorboard/      exact training curves
       /done.json         last write: the training is complete

PRIVATE is OUT/private, or, for the training of a run, a folder in the private state of the run.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import PRIVATE, RunPlaces
from sottovoce.models.training.rows import run_around

OWNER_ONLY = 0o077


class TrainingPlaces:
    """The folder of a training that may be given away, and its private one; neither may lie in a committed run."""

    def __init__(self, out: Path, private: Path | None = None):
        self.out, self.private = out, private or out / PRIVATE
        self._usual = OWNER_ONLY
        for folder in (self.out, self.private):
            if (run := run_around(folder)) is not None:
                raise RunError(
                    f"{folder} lies in {run}, which holds what was committed and nothing else; use another --out"
                )

    @property
    def model(self) -> Path:
        """The folder of the model with its privacy card, to give away."""
        return self.out / "model"

    @property
    def ledger(self) -> Path:
        return self.out / "ledger.json"

    @property
    def done(self) -> Path:
        """Where it exists, the training is complete."""
        return self.private / "done.json"

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Whatever is made meanwhile, by whichever library, is for its owner alone, but for what `to_give_away` makes."""
        self._usual = os.umask(OWNER_ONLY)
        try:
            yield
        finally:
            os.umask(self._usual)

    def make(self) -> None:
        """Both folders, with what is above them; the private one for its owner alone, where the file system has modes."""
        with self.to_give_away():
            self.out.mkdir(parents=True, exist_ok=True)
        self.private.mkdir(parents=True, exist_ok=True)
        if self.private.stat().st_mode & OWNER_ONLY:
            with contextlib.suppress(PermissionError):  # a mounted bucket has access rules instead of modes
                self.private.chmod(0o700)

    @contextlib.contextmanager
    def to_give_away(self) -> Iterator[None]:
        """Inside `opened`: what is made here can be read by whom the operator's own umask lets read."""
        os.umask(self._usual)
        try:
            yield
        finally:
            os.umask(OWNER_ONLY)


def places_for(data: str, out: str | None, private: str | None) -> TrainingPlaces:
    """As asked for; by default those of the run that the data lie in, or a folder beside the data."""
    run = run_around(Path(data))
    if out is not None:
        return TrainingPlaces(Path(out), Path(private) if private else None)
    if run is None:
        return TrainingPlaces(Path(data).absolute().parent / "training")
    places = RunPlaces.of(str(run))
    return TrainingPlaces(Path(places.trained()), Path(places.training("model")))
