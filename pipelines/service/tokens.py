"""Who may call: bearer tokens from a file that holds their hashes, compared in constant time.

A line is `name sha256`, as `sottovoce serve --new-token NAME` writes it. A token is 32 random bytes, so that a plain hash of
it cannot be searched; a token that somebody thought of has no place here, and none can be put in.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from sottovoce.models.errors import SettingsError

ROW = re.compile(r"(?P<name>[\w.-]{1,64}) (?P<hash>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The tokens of a service, by name and hash; its repr shows how many, and none of them."""

    rows: tuple[tuple[str, str], ...]  # (name, hash)

    def __repr__(self) -> str:
        return f"<Tokens: {len(self.rows)}>"

    def caller(self, token: str) -> str | None:
        """The name that the token belongs to. Every row is compared, whichever fits."""
        given = _hash(token)
        found = None
        for name, expected in self.rows:
            if hmac.compare_digest(given, expected):
                found = name
        return found


def read_tokens(path: str) -> Tokens:
    """Skips empty lines and comments (#). SettingsError for an unreadable file, a wrong line, a name twice, or no token."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([f"--tokens {path}: cannot be read ({type(error).__name__})"]) from None
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            row = ROW.fullmatch(line.strip())
            if row is None:
                raise SettingsError([f"--tokens {path}, line {number}: expected a name and a sha256 in hexadecimal"])
            rows.append((row["name"], row["hash"]))
    if not rows:
        raise SettingsError([f"--tokens {path}: holds no token; add one with --new-token NAME"])
    if len({name for name, _ in rows}) < len(rows):
        raise SettingsError([f"--tokens {path}: a name stands there twice"])
    return Tokens(tuple(rows))


def add_token(path: str, name: str) -> str:
    """A fresh token, of which the file gets the hash only."""
    token = secrets.token_urlsafe(32)
    line = f"{name} {_hash(token)}"
    if not ROW.fullmatch(line):
        raise SettingsError([f"--new-token {name!r}: allowed are up to 64 letters, digits, and . _ -"])
    if os.path.exists(path) and os.path.getsize(path) and name in dict(read_tokens(path).rows):
        raise SettingsError([f"--new-token {name}: stands in {path} already; take its line out first"])
    with open(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a", encoding="utf-8") as file:
        file.write(line + "\n")
    return token


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
