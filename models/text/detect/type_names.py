"""One set of type names for models that were trained with other people's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KNOWN = {
    "PERSON": "PER", "GPE": "LOC", "LOCATION": "LOC", "FAC": "LOC", "ORGANIZATION": "ORG", "ORGANISATION": "ORG",
    "CARDINAL": "CODE", "MONEY": "AMOUNT", "EMAIL_ADDRESS": "EMAIL", "PHONE_NUMBER": "PHONE",
}  # fmt: skip


def renamed(labels: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """'B-GPE' -> 'B-LOC'. Labels without a prefix become I-; BIOES is read as BIO (S begins, E continues)."""
    return [_renamed(label, types) for label in labels]


def _renamed(label: str, types: Mapping[str, str]) -> str:
    if label in ("O", "0"):
        return "O"
    prefix, dash, kind = label.partition("-")
    if not dash or prefix not in ("B", "I", "E", "S", "L", "U"):
        prefix, kind = "I", label
    kind = types.get(kind, KNOWN.get(kind, kind))
    begins = {"S": "B", "U": "B", "E": "I", "L": "I"}
    return f"{begins.get(prefix, prefix)}-{kind}"
