"""Schema-Guided Dialogue, and MultiWOZ since 2.2: a dialogue is a list of turns, whose frames hold slots and an intent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus.reasons import TurnsMalformed


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """One record for each turn, with the first intent that is active in it. TurnsMalformed where a turn is no mapping."""
    if not isinstance(row["turns"], list) or not all(isinstance(turn, Mapping) for turn in row["turns"]):
        raise TurnsMalformed
    for number, turn in enumerate(row["turns"]):
        frames = [frame for frame in turn.get("frames") or [] if isinstance(frame, Mapping)]
        yield {
            "dialogue_id": row["dialogue_id"],
            "turn": number,
            "speaker": turn.get("speaker"),
            "text": turn.get("utterance"),
            "intent": next(filter(None, map(_intent, frames)), None),
            "slots": _slots(frames),
        }


def _intent(frame: Mapping[str, Any]) -> str | None:
    intent = (frame.get("state") or {}).get("active_intent")
    return None if intent == "NONE" else intent


def _slots(frames: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those that stand in the text. Two services may name one stretch: the first name is kept."""
    found: list[dict[str, Any]] = []
    for slot in (slot for frame in frames for slot in frame.get("slots") or []):
        begin, end = slot.get("start"), slot.get("exclusive_end")
        if begin is not None and all(end <= known["begin"] or known["end"] <= begin for known in found):
            found.append({"name": slot.get("slot"), "begin": begin, "end": end})
    return found
