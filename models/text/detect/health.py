"""Words for conditions and complaints, as the type HEALTH: a job that needs it puts `health` among its detectors.

A list and nothing more (`health.tsv`, made by `tools/build_health_list.py`): it does not know whose illness is meant, and
words that
mostly mean something else ("cold", "stress") are not on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.text.detect import CONTEXT
from sottovoce.models.text.detect.gazetteer import Gazetteer, read_phrases

LIST = Path(__file__).with_name("health.tsv")


@dataclass
class Health(Gazetteer):
    """No options: `detect: {use: ensemble, detectors: [rules, tagger, health]}`; English."""

    name: ClassVar[str] = "health"

    def __post_init__(self) -> None:
        self._trie: dict[str, Any] = {}
        self._size = 0

    def setup(self) -> None:
        self._grow(read_phrases(LIST))

    def finds(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset(("HEALTH",))

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="detect",
            mechanism="health",
            says="Finds words for conditions and complaints that stand on a public list (ICD-10-CM and words in everyday use).",
            not_protected=(
                "conditions that are described rather than named, misspelt or misheard",
                CONTEXT,
            ),
            parameters={"list": LIST.name},
        )
