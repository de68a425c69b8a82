"""Every draw is keyed: HMAC-SHA256(secret, purpose, record id) seeds it.

A retried bundle, a second run and tomorrow's run repeat the same draw, so running twice reveals nothing new (permanent
randomised response). Nothing public may seed a draw: who knows the seed undoes the protection. So a secret is pickled as
a reference (`secret_reference.py`): what is submitted, staged or shown by a runner does not hold it.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import secrets as system_randomness
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.secrets.secret_reference import SecretReference, SecretUnavailable, held_here


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """The key of a run. Its `repr` is blank, so that no log or error shows it, and its pickle holds a reference."""

    value: bytes
    reference: SecretReference | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return "<Secret>"

    def __reduce__(self) -> tuple[Any, ...]:
        return fetch, (self.reference or held_here(self.value), self.check)

    @property
    def check(self) -> str:
        """Tells whether a secret is this one, and nothing else of it."""
        return self.token("which secret this is")

    def digest(self, purpose: str, *parts: str | int) -> bytes:
        """32 bytes that nobody without the secret can predict. Parts are length-prefixed: ("ab","c") is not ("a","bc")."""
        framed: list[bytes] = []
        for part in (purpose, *parts):
            encoded = str(part).encode("utf-8", "surrogatepass")
            framed += (len(encoded).to_bytes(8, "big"), encoded)
        message = _keyed(self.value).copy()
        message.update(b"".join(framed))
        return message.digest()

    def token(self, purpose: str, *parts: str | int) -> str:
        """A 128-bit id in hexadecimal: random to everybody else, the same on every retry."""
        return self.digest(purpose, *parts)[:16].hex()

    def uniform(self, purpose: str, *parts: str | int) -> float:
        """One draw from [0, 1) with 53 random bits."""
        return (int.from_bytes(self.digest(purpose, *parts)[:8], "big") >> 11) / float(1 << 53)

    def generator(self, purpose: str, *parts: str | int) -> np.random.Generator:
        """A stream of draws for one record and one purpose."""
        return np.random.Generator(np.random.Philox(key=int.from_bytes(self.digest(purpose, *parts)[:16], "big")))


@functools.lru_cache(maxsize=4)
def _keyed(value: bytes) -> hmac.HMAC:
    """HMAC with its key already taken in: a copy is much cheaper than a new one, and a record needs several."""
    return hmac.new(value, digestmod=hashlib.sha256)


@functools.lru_cache(maxsize=4)
def fetch(reference: SecretReference, check: str) -> Secret:
    """The secret, read where it is needed; one that is not there, or not the one that was meant, ends the work."""
    secret = Secret(reference.read(), reference)
    if secret.check != check:
        raise SecretUnavailable(f"{reference}: not the secret that the run was started with")
    return secret


def fresh_secret() -> Secret:
    """A secret that nobody has yet: 32 bytes of the system's randomness."""
    return Secret(system_randomness.token_bytes(32))
