"""What a caller is told when a request cannot be answered: a status, a stable code, what is allowed; nothing of the content."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from sottovoce.models.errors import Refusal, SettingsError, SottovoceError, reason_of, told_by_place
from sottovoce.models.speech.audio_refusals import AudioTooLarge, AudioTooLong

TOO_MUCH = (AudioTooLarge.code, AudioTooLong.code)


@dataclass(eq=False)
class Problem(Exception):
    """`allowed` names the limit or the values that would have been accepted."""

    status: int
    code: str
    allowed: str
    headers: dict[str, str] = field(default_factory=dict)


def too_large(limit: str) -> Problem:
    """413: `limit` says in words how much is allowed."""
    return Problem(413, "too_large", limit)


def invalid(code: str, allowed: str) -> Problem:
    """422: a value that can be read and is not allowed; `code` names the option or the rule."""
    return Problem(422, code, allowed)


def full(retry_after_s: float) -> Problem:
    """429, with a Retry-After of whole seconds, rounded up and at least 1."""
    after = str(max(1, math.ceil(retry_after_s)))
    return Problem(429, "busy", f"a request every so often: try again in {after} s", {"Retry-After": after})


def of_error(error: SottovoceError, max_seconds: float) -> Problem:
    """A refusal of a record, or options that were given wrong. The words of any other error may quote a record."""
    if isinstance(error, Refusal):
        code, allowed = reason_of(error)
        if code in TOO_MUCH:
            most = f"at most {max_seconds:g} s of speech (audio.max_seconds)"
            return Problem(413, code, most if code == AudioTooLong.code else f"{most}; {allowed}")
        return invalid(code, allowed)
    if isinstance(error, SettingsError):
        return invalid("options", "; ".join(error.problems))
    return of_foreign(error)


def of_foreign(error: Exception) -> Problem:
    """Told by type and place alone."""
    return Problem(500, "unexpected", f"report this: {told_by_place(error)}")


def of_validation(errors: Iterable[dict]) -> Problem:
    """Which fields are wrong and what they may be. Neither what was given nor names that only the caller knows."""
    lines = []
    for error in errors:
        unknown = error["type"] == "extra_forbidden"
        place = ".".join(str(part) for part in (error["loc"][:-1] if unknown else error["loc"])) or "body"
        lines.append(f"{place}: {'a key is not known' if unknown else error['msg']}")
    return invalid("invalid_request", "; ".join(lines[:20]))
