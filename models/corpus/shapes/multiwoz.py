"""MultiWOZ up to 2.1: `data.json` maps each dialogue's name to its log, in which the user and the system take turns.

Its slots count tokens of another tokenisation and are not read; 2.2 has them in characters (`sgd.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus.reasons import TurnsMalformed


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """One record for each turn, the user's first; `name` is the dialogue's. TurnsMalformed without it or without a log."""
    if name is None or not isinstance(row["log"], list) or not all(isinstance(turn, Mapping) for turn in row["log"]):
        raise TurnsMalformed
    for number, turn in enumerate(row["log"]):
        text = turn.get("text")
        yield {
            "dialogue_id": name,
            "turn": number,
            "speaker": "system" if number % 2 else "user",
            "text": " ".join(text.split()) if isinstance(text, str) else text,
        }
