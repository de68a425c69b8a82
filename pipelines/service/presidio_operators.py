"""Presidio's operators on analyzer results: replace, redact, mask, hash, keep. `encrypt` is not offered: it can be undone."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from sottovoce.pipelines.service import problems

OPERATORS = ("hash", "keep", "mask", "redact", "replace")
MOST_NEW_CHARACTERS = 256  # of a replacement: it may stand in an answer thousands of times


class Result(BaseModel):
    """A stretch of text that the caller of /anonymize wants changed, in the form in which /analyze lists entities."""

    model_config = ConfigDict(extra="ignore")
    start: int
    end: int
    score: float
    entity_type: str


def anonymized(text: str, results: Sequence[Result], anonymizers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """{"text", "items"}: the items from the last to the first, where their replacements stand, as Presidio lists them."""
    for result in results:
        if not 0 <= result.start < result.end <= len(text):
            raise problems.invalid(
                "analyzer_results", f"Invalid analyzer result: start and end must lie in 0 to {len(text)}"
            )
    salt = secrets.token_bytes(16)
    pieces, items, at, length = [], [], 0, 0
    for result in apart(results):
        config = anonymizers.get(result.entity_type, anonymizers.get("DEFAULT", {"type": "replace"}))
        new = operate(text[result.start : result.end], result.entity_type, config, salt)
        pieces += [text[at : result.start], new]
        length += result.start - at
        items.append({"start": length, "end": length + len(new), "entity_type": result.entity_type, "text": new,
                      "operator": config.get("type", "replace")})  # fmt: skip
        length += len(new)
        at = result.end
    return {"text": "".join([*pieces, text[at:]]), "items": items[::-1]}


def apart(results: Sequence[Result]) -> list[Result]:
    """In order and without overlaps: of two that overlap the better one stays whole, and the other keeps the rest of itself.
    No character that any of them covers is left out."""
    kept: list[Result] = []
    taken = bytearray(max((one.end for one in results), default=0))  # by character: thousands of results stay quick
    for result in sorted(results, key=lambda one: (-one.score, one.start - one.end)):
        begin = taken.find(0, result.start, result.end)
        while begin >= 0:
            stop = taken.find(1, begin, result.end)
            end = result.end if stop < 0 else stop
            taken[begin:end] = b"\1" * (end - begin)
            kept.append(result.model_copy(update={"start": begin, "end": end}))
            begin = taken.find(0, end, result.end)
    return sorted(kept, key=lambda one: one.start)


def operate(old: str, entity_type: str, config: Mapping[str, Any], salt: bytes) -> str:
    """What stands in place of `old`; 422 for an unknown operator or a wrong option. `salt` is for hashes that bring none."""
    name = config.get("type", "replace")
    if name == "replace":
        new = _of_type(config, "new_value", str, None) or f"<{entity_type}>"
        if len(new) > MOST_NEW_CHARACTERS:
            raise problems.invalid("new_value", f"new_value, or the name of a type: {MOST_NEW_CHARACTERS} characters")
        return new
    if name == "redact":
        return ""
    if name == "keep":
        return old
    if name == "hash":
        kinds = {"sha256": hashlib.sha256, "sha512": hashlib.sha512}
        kind = _of_type(config, "hash_type", str, "sha256")
        if kind not in kinds:
            raise problems.invalid("hash_type", f"Expected parameter hash_type to be one of {', '.join(kinds)}")
        given = _of_type(config, "salt", str, None)  # a hash without a salt confirms guesses
        return kinds[kind]((given.encode() if given else salt) + old.encode()).hexdigest()
    if name == "mask":
        sign = _of_type(config, "masking_char", str, None)
        if sign is None or len(sign) != 1:
            raise problems.invalid("masking_char", "Expected parameter masking_char, one character")
        count = max(0, min(_of_type(config, "chars_to_mask", int, None) or 0, len(old)))
        return old[: len(old) - count] + sign * count if config.get("from_end") is True else sign * count + old[count:]
    raise problems.invalid("anonymizers", f"Invalid operator; one of {', '.join(OPERATORS)}")


def _of_type(config: Mapping[str, Any], name: str, kind: type, otherwise: Any) -> Any:
    value = config.get(name, otherwise)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise problems.invalid(name, f"Invalid parameter value for {name}. Expecting '{kind.__name__}'")
    return value
