"""One loaded member of a family per worker process, shared by its threads.

Models are large and their C libraries are seldom thread-safe, so a process holds one copy of each behind a lock and
parallelism comes from processes. Linear algebra therefore gets one thread per process: more would take the cores of the
other workers, wait for each other on small products, and let results depend on the machine.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from sottovoce.models.settings import Spec


@dataclass(frozen=True)
class Loaded:
    """A member after `setup`, and the lock under which threads of the worker take turns with it."""

    member: Any
    lock: threading.Lock = field(default_factory=threading.Lock)


_loaded: dict[str, Loaded] = {}  # by the spec's repr: options may hold lists, which do not hash
_loads_not_reported: Counter[str] = Counter()
_guard = threading.Lock()


def load(spec: Spec) -> Loaded:
    """The process's one copy for this spec, made and set up by whoever asks first; the others wait for it."""
    with _guard:
        name = repr(spec)
        if name not in _loaded:
            member = spec.make()
            member.setup()
            threadpool_limits(1)  # after loading, so that libraries which came with the member are held to it as well
            _loaded[name] = Loaded(member)
            _loads_not_reported[f"{spec.family}.{spec.name}"] += 1
        return _loaded[name]


def take_loads() -> Counter[str]:
    """The loads since the last call, for the tally: with one process it must show 1 for each member."""
    with _guard:
        taken = Counter(_loads_not_reported)
        _loads_not_reported.clear()
        return taken
