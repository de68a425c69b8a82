"""The key of all draws, as a caller may give it: bytes, a reference as `--secret-file` takes it, or nothing for a fresh one."""

from __future__ import annotations

from typing import TypeAlias

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.secrets.secret_strength import MIN_BITS, estimated_bits

Key: TypeAlias = bytes | str | Secret | None


def secret_of(given: Key) -> Secret:
    """Refused where it could be guessed: whoever guesses it undoes the draws.

    >>> secret_of(b"not a secret")
    Traceback (most recent call last):
        ...
    sottovoce.models.errors.SettingsError: secret: 12 bytes that hold about ... bits can be guessed; ...
    """
    if given is None:
        return fresh_secret()
    if isinstance(given, Secret):
        return given
    if isinstance(given, bytes):
        bits = estimated_bits(given)
        if bits < MIN_BITS:
            raise SettingsError(
                [
                    f"secret: {len(given)} bytes that hold about {bits:.0f} bits can be guessed; at least {MIN_BITS} are "
                    "needed, such as secrets.token_bytes(32)"
                ]
            )
        return Secret(given)
    from sottovoce.pipelines.sanitize.secret_file import read_secret

    return read_secret(given)
