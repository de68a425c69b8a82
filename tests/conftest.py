"""Settings for all tests: property tests have no deadline, since a busy machine is no defect; `make check` draws fewer.

What a test draws follows from its name, so that no luck decides what lands: what passes today passes tomorrow, and what fails
fails again for whoever looks for the reason. With NEW_DRAWS in the environment every run draws anew, to look for more.
"""

import contextlib
import hashlib
import itertools
import os
import random
import secrets
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

# Images say that nothing compiled is kept. Here hundreds of processes load the same modules: each would compile them anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# As training itself sets it (models/training/loop/processes.py); here before any test lets torch multiply.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

NEW_DRAWS = bool(os.environ.get("NEW_DRAWS"))

settings.register_profile("patient", deadline=None, derandomize=not NEW_DRAWS)
settings.register_profile("quick", settings.get_profile("patient"), max_examples=20)
settings.load_profile("patient")


class _Drawn:
    """In place of the system's randomness, in this process: what each test asks for, by its name and in order."""

    def __init__(self) -> None:
        self.begin("")

    def begin(self, name: str) -> None:
        self._name, self._asked = name, itertools.count()

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        """What a fixture of several tests draws is its own, whichever of them comes first."""
        before = self._name, self._asked
        self.begin(name)
        yield
        self._name, self._asked = before

    def token_bytes(self, size: int | None = None) -> bytes:
        return hashlib.shake_256(f"{self._name} {next(self._asked)}".encode()).digest(32 if size is None else size)

    def token_hex(self, size: int | None = None) -> str:
        return self.token_bytes(size).hex()


_drawn = _Drawn()
if not NEW_DRAWS:
    secrets.token_bytes, secrets.token_hex = _drawn.token_bytes, _drawn.token_hex


def pytest_runtest_setup(item):
    if NEW_DRAWS:
        return
    _drawn.begin(item.nodeid)
    seed = int.from_bytes(_drawn.token_bytes(4))
    random.seed(seed)
    np.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    with _drawn.of(f"{request.node.nodeid} {fixturedef.argname}"):
        return (yield)
