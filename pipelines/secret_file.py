"""The secret of a run: read from a file, or made afresh and not kept."""

from __future__ import annotations

from pathlib import Path

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import MIN_SECRET_BYTES, Secret, fresh_secret


def read_secret(path: str | None) -> Secret:
    if path is None:
        return fresh_secret()
    try:
        value = Path(path).read_bytes()
    except OSError as error:
        raise SettingsError(
            [f"--secret-file {path}: {error.strerror}; make one with: head -c 32 /dev/urandom > {path}"]
        ) from None
    if len(value) < MIN_SECRET_BYTES:
        raise SettingsError([f"--secret-file {path}: {len(value)} bytes; at least {MIN_SECRET_BYTES} are needed"])
    return Secret(value)
