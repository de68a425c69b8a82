"""A long study in steps, each of which is done once: what a step found is kept, and a killed study goes on from there.

A step is known by a digest of all that its result depends on, so a second study with one more voice does only what is new.
What is kept holds speech and transcripts: nobody but the owner of the folder may look into it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.models.errors import RunError

# What a kept result is made of: plain containers and arrays, and the dataclasses of these modules.
PLAIN = {
    ("builtins", "frozenset"),
    ("builtins", "set"),
    ("collections", "Counter"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}
RESULTS = {
    "sottovoce.models.records",
    "sottovoce.models.evaluation.metrics.word_errors",
    "sottovoce.pipelines.studies.acoustic_sets",
}


@dataclass(frozen=True)
class KeptStep:
    """`work` is done unless its result is kept; `cost_s` is a rough guess of the processor time it takes."""

    name: str
    identity: str
    cost_s: float
    work: Callable[[], Any]


def identity_of(*parts: Any) -> str:
    """A digest of what a step depends on; every part has a `repr` that tells it from others."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class _OnlyResults(pickle.Unpickler):
    """Builds results of steps and nothing else: a file that was put in the folder calls no function."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN or module in RESULTS:
            found = super().find_class(module, name)
            if (module, name) in PLAIN or dataclasses.is_dataclass(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no result of a step")


class KeptSteps:
    """Results of steps in a private folder, each under its step's identity; `result` does a step that is not kept."""

    def __init__(self, folder: Path, say: Callable[[str], None] | None = None):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        self._folder, self._say = folder, say or (lambda line: print(line, file=sys.stderr, flush=True))
        self._place: dict[str, str] = {}

    def announce(self, steps: Sequence[KeptStep]) -> None:
        """Say how long it will take, before it begins."""
        ahead = [step for step in steps if not self.has(step)]
        minutes = sum(step.cost_s for step in ahead) / 60
        kept = f"; {len(steps) - len(ahead)} are kept from before" if len(ahead) < len(steps) else ""
        self._say(f"{len(ahead)} of {len(steps)} steps to do, about {minutes:.0f} minutes of one core{kept}")
        self._place = {step.identity: f"{number}/{len(steps)}" for number, step in enumerate(steps, 1)}

    def has(self, step: KeptStep) -> bool:
        """Whether there is a result for this very identity; it is not read, so it may still turn out to be broken."""
        return self._path(step).exists()

    def result(self, step: KeptStep) -> Any:
        """What is kept, or else what the work gives, kept first. RunError for a file that cannot be read."""
        if self.has(step):
            try:
                return _OnlyResults(io.BytesIO(self._path(step).read_bytes())).load()
            except (pickle.UnpicklingError, EOFError, AttributeError, ImportError):
                raise RunError(f"{self._path(step)}: cannot be read; remove it and start the study again") from None
        began = time.process_time()
        found = step.work()
        beside = self._path(step).with_suffix(f".{os.getpid()}")
        beside.write_bytes(pickle.dumps(found))
        beside.chmod(0o600)
        beside.replace(self._path(step))  # whole or not at all
        self._say(f"{self._place.get(step.identity, '')} {step.name}: {time.process_time() - began:.0f} s".strip())
        return found

    def _path(self, step: KeptStep) -> Path:
        return self._folder / f"{step.identity}.pickle"
