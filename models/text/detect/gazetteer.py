"""The user's own lists: staff, customers, street names. A phrase is found wherever its words stand in a row.

The phrases form a trie over words, so a text is read once whatever the number of phrases. Case, accents and punctuation
between words do not matter ("o'brien", "O Brien"); words are whole, so "ann" is not found in "annoyed".
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.settings import require
from sottovoce.models.text.detect import CONTEXT
from sottovoce.models.text.detect.overlap import resolve

_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")
_END = ""  # the key under which a trie node keeps the type of the phrase that ends there; no word is empty


@dataclass
class Gazetteer:
    """`model`: a file of lines "phrase<TAB>TYPE". `entries`: {TYPE: [phrase, ...]} in the job itself."""

    model: str = ""
    entries: dict[str, tuple[str, ...]] = field(default_factory=dict)
    name: ClassVar[str] = "gazetteer"

    def __post_init__(self) -> None:
        require(
            (bool(self.model or self.entries), "model or entries: give a file, or phrases by type"),
            (not self.model or Path(self.model).is_file(), f"model: {self.model!r} is not a file"),
        )
        self._trie: dict[str, Any] = {}
        self._size = 0

    def setup(self) -> None:
        phrases = [(phrase, kind) for kind, values in self.entries.items() for phrase in values]
        if self.model:
            phrases += read_phrases(Path(self.model))
        self._grow(phrases)

    def _grow(self, phrases: Sequence[tuple[str, str]]) -> None:
        self._trie, self._size = {}, 0
        for phrase, kind in phrases:
            node = self._trie
            for word in _WORD.findall(phrase):
                node = node.setdefault(fold(word), {})
            if node is not self._trie:
                self._size += _END not in node
                node.setdefault(_END, kind)

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        return [resolve(self._find(text), text) for text in texts]

    def _find(self, text: str) -> list[Span]:
        words = [(match.start(), match.end(), fold(match.group())) for match in _WORD.finditer(text)]
        spans = []
        for at, (begin, _, _) in enumerate(words):
            node, found = self._trie, None
            for _, end, word in words[at:]:
                node = node.get(word)  # type: ignore[assignment]
                if node is None:
                    break
                if _END in node:
                    found = Span(begin, end, node[_END], 1.0, self.name)
            if found:
                spans.append(found)
        return spans

    def finds(self) -> None:
        return None

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="detect",
            mechanism="gazetteer",
            says="Finds the phrases of the operator's own lists, whole words, whatever their case.",
            not_protected=(
                "every name that is not on the lists, misspelt or misheard",
                CONTEXT,
            ),
            parameters={"phrases_in_file": self._size if self.model else 0, "types": sorted(self.entries)},
        )


def fold(word: str) -> str:
    """Lower case without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def read_phrases(path: Path) -> list[tuple[str, str]]:
    """(phrase, type) for each line, without comments (#). A RunError names the entry that is not two columns, never its text."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [
            row
            for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row and not row[0].startswith("#")
        ]
    for number, row in enumerate(rows, 1):
        if len(row) != 2 or not row[1].strip():
            raise RunError(f"{path.name}, entry {number}: expected a phrase, a tab and a type")
    return [(phrase, kind.strip()) for phrase, kind in rows]
