"""How an attacker reads texts: as rows of unit length whose products say how alike two texts are. One file and one row each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sottovoce.models.errors import RunError
from sottovoce.models.settings import resolve

TABLE = {
    "tfidf": "sottovoce.models.evaluation.audit.readers.tfidf:Tfidf",
    "stylometry": "sottovoce.models.evaluation.audit.readers.stylometry:Stylometry",
    "minilm": "sottovoce.models.evaluation.audit.readers.minilm:MiniLm",
}


class TextReader(Protocol):
    """Built without arguments."""

    def setup(self) -> None:
        """Load what is heavy; RunError where its package is not installed."""

    def read(self, texts: Sequence[str]) -> Any:
        """Rows [texts, d], dense or sparse, of unit length; all texts that are compared are given at once."""


def at_hand(names: Sequence[str]) -> dict[str, TextReader]:
    """Those whose package is installed."""
    found: dict[str, TextReader] = {}
    for name in names:
        reader: TextReader = resolve(TABLE[name])()
        try:
            reader.setup()
        except RunError:
            continue
        found[name] = reader
    return found
