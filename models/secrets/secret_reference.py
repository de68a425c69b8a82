"""Where a secret is kept. A secret travels to workers as such a reference, never as its value, and is read there.

A reference is frozen and has `read() -> bytes`; its text is what the operator typed. References that need Beam are in
`transforms/engine/secret_reference.py`.
"""

from __future__ import annotations

import os
import secrets as system_randomness
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sottovoce.models.errors import RunError


class SecretUnavailable(RunError):
    """A process could not read the secret, or found another one in its place."""


class SecretReference(Protocol):
    """Where a secret lies; it is safe to pickle, print and submit, since it holds no part of the value."""

    def read(self) -> bytes:
        """The value. SecretUnavailable where this process cannot reach it."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """A local file, under the same absolute path on every machine."""

    path: str

    def __str__(self) -> str:
        return self.path

    def read(self) -> bytes:
        try:
            return Path(self.path).read_bytes()
        except OSError as error:
            raise SecretUnavailable(f"{self.path}: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class EnvironmentReference:
    """A variable that the operator has set on every machine."""

    name: str

    def __str__(self) -> str:
        return f"env:{self.name}"

    def read(self) -> bytes:
        value = os.environ.get(self.name)
        if value is None:
            raise SecretUnavailable(f"the variable {self.name} is not set")
        return os.fsencode(value)


@dataclass(frozen=True, slots=True)
class ProcessReference:
    """A secret that was made in this process and is kept nowhere: no other process can read it."""

    name: str

    def __str__(self) -> str:
        return "a secret that was made for this process alone"

    def read(self) -> bytes:
        try:
            return _held[self.name]
        except KeyError:
            raise SecretUnavailable("a secret that was kept in no file reached another process") from None


_held: dict[str, bytes] = {}


def held_here(value: bytes) -> ProcessReference:
    """Keeps a secret in the memory of this process alone; the same value gives the same reference."""
    name = next((name for name, held in _held.items() if held == value), None)
    if name is None:
        _held[name := system_randomness.token_hex(8)] = value
    return ProcessReference(name)
