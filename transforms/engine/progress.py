"""How far a local run has come, told by files: each worker process writes its counts, the driver adds them up.

The same folder carries the order to stop (`--max-failures`). Remote workers have no such folder: there the runner's own
metrics show progress, and the limit is checked before commit.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from pathlib import Path

from sottovoce.models.errors import RunError

STOP_FILE = "stop"
WRITE_EVERY_S = 0.3

_guard = threading.Lock()
_counts: dict[str, Counter[str]] = {}
_written_at: dict[str, float] = {}


def note(directory: str | None, stage: str, received: int, failed: int) -> None:
    """Adds to this process's counts, and writes them every WRITE_EVERY_S at most; without a directory it does nothing."""
    if directory is None:
        return
    with _guard:
        counts = _counts.setdefault(directory, Counter())
        counts[stage] += received
        counts["failed"] += failed
        if time.monotonic() - _written_at.get(directory, 0.0) >= WRITE_EVERY_S:
            _write(directory)


def flush() -> None:
    """Writes what `note` has held back: at the end of a worker."""
    with _guard:
        for directory in list(_counts):
            _write(directory)


def _write(directory: str) -> None:
    folder = Path(directory)
    if not folder.is_dir():  # the run is over and its folder gone; a late worker must not bring it back
        _counts.pop(directory, None)
        return
    part = folder / f"{os.getpid()}.part"
    part.write_text(json.dumps(_counts[directory]))
    part.replace(folder / f"{os.getpid()}.json")
    _written_at[directory] = time.monotonic()


def read(directory: str) -> Counter[str]:
    """Records received by each stage, and `failed`, added up over all processes."""
    total: Counter[str] = Counter()
    for path in Path(directory).glob("*.json"):
        total.update(json.loads(path.read_text()))
    return total


def ask_to_stop(directory: str) -> None:
    """Tells the workers by a file; each stops before its next batch."""
    (Path(directory) / STOP_FILE).touch()


def stop_asked(directory: str) -> bool:
    """Whether the driver has asked; once a run has failed, this tells --max-failures from other faults."""
    return os.path.exists(os.path.join(directory, STOP_FILE))


def stop_if_asked(directory: str | None) -> None:
    """RunError where the driver has asked to stop; never without a directory."""
    if directory is not None and stop_asked(directory):
        raise RunError("stopped: more records failed than --max-failures allows")
