"""SNIPS: a document maps each intent to its sentences, each a list of stretches of text with or without an entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus.reasons import SlotsMalformed


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """One record for the sentence, its pieces joined; `name` is the intent. SlotsMalformed where a piece has no text."""
    if "text" in row:  # a record of another kind that has a key of this name
        yield row
        return
    text, slots = "", []
    if not isinstance(row["data"], list):
        raise SlotsMalformed
    for part in row["data"]:
        words = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(words, str):
            raise SlotsMalformed
        entity = part.get("slot_name") or part.get("entity")
        if entity and words.strip():
            begin = len(text) + len(words) - len(words.lstrip())
            slots.append({"name": entity, "begin": begin, "end": begin + len(words.strip())})
        text += words
    yield {"text": text, "intent": name, "slots": slots}
