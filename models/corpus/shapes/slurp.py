"""SLURP: sentences with their slots in brackets, each read out in several recordings.

Recordings are read where the job says in which folder they lie (`input.audio_folder`); otherwise a sentence is text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus.reasons import SlotsMalformed
from sottovoce.models.corpus.shapes import RECORDINGS

_slot = re.compile(r"\[\s*([^\[\]:]+?)\s*:\s*([^\[\]]+?)\s*\]")


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """One record: the sentence without brackets, its recordings beside it. SlotsMalformed for a bracket that is no slot."""
    text, slots = _read(row["sentence_annotation"])
    sentence = {"dialogue_id": f"slurp {row['slurp_id']}", "text": text, "slots": slots, "intent": row.get("intent")}
    recordings = row.get(RECORDINGS)
    yield sentence | {"id": f"slurp {row['slurp_id']}", RECORDINGS: recordings if isinstance(recordings, list) else []}


def _read(annotated: Any) -> tuple[str, list[dict[str, Any]]]:
    """ "in [place : new york] now" -> the text, and where the slots stand in it."""
    if not isinstance(annotated, str):
        raise SlotsMalformed
    text, slots, at = "", [], 0
    for found in _slot.finditer(annotated):
        text += annotated[at : found.start()]
        slots.append({"name": found[1], "begin": len(text), "end": len(text) + len(found[2])})
        text, at = text + found[2], found.end()
    text += annotated[at:]
    if "[" in text or "]" in text:
        raise SlotsMalformed
    return text, slots
