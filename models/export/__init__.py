"""Write a committed run in the layouts that training tools read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sottovoce.models.runs.committed_run import CommittedRun

TABLE = {
    "kaldi": "sottovoce.models.export.kaldi:Kaldi",
    "nemo": "sottovoce.models.export.nemo:Nemo",
    "conll": "sottovoce.models.export.conll:Conll",
    "lhotse": "sottovoce.models.export.lhotse:Lhotse",
}


class Exporter(Protocol):
    """Writes a committed run in the layout of another tool."""

    sinks: tuple[str, ...]  # the sinks it has a layout for
    says: str  # what a user of the files should know; written beside them

    def write(self, run: CommittedRun, sinks: Sequence[str], folder: Path, target: Path) -> dict[str, int]:
        """Write into `folder`, which is going to be named `target`; tell the records of each file."""
