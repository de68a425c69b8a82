"""What the draws of a request are keyed by: a fresh key, or the key of the caller's session.

Without `X-Session` every request has a key of its own, which is kept nowhere. With it the key is HMAC(secret of the service,
caller, session): the same surrogates as long as the session's name is used, and other ones for every other caller, whatever
name they choose.
"""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.pipelines.service import problems

HEADER, MOST_CHARACTERS = "x-session", 128


@dataclass(frozen=True, slots=True, repr=False)
class RequestDraws:
    """The key of a request's draws, its own or its session's, and the name that its record has under it."""

    secret: Secret
    name: str = "request"  # of utterance and dialogue: the key tells requests and sessions apart already


def draws_for(secret: Secret, caller: str, session: str | None) -> RequestDraws:
    """`session` is the request's X-Session; None gives a fresh key."""
    if session is None:
        return RequestDraws(fresh_secret())
    if not 1 <= len(session) <= MOST_CHARACTERS:
        raise problems.invalid("session", f"X-Session: a name of 1 to {MOST_CHARACTERS} characters")
    return RequestDraws(Secret(secret.digest("session", caller, session)))
