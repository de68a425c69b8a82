"""Sensitive words that somebody wrote down: a list of words and phrases becomes spans of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sottovoce.models.records import Span


@dataclass(frozen=True)
class WordList:
    """Words and phrases, found whatever their case, as whole words, also across line breaks and double blanks."""

    entries: tuple[str, ...]
    type: str = "LISTED"
    _pattern: re.Pattern[str] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        # Longest first: of "new york city" and "new york" the longer one is meant.
        phrases = sorted({" ".join(entry.split()) for entry in self.entries if entry.split()}, key=len, reverse=True)
        parts = [r"\s+".join(re.escape(word) for word in phrase.split()) for phrase in phrases]
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", re.IGNORECASE) if parts else None
        object.__setattr__(self, "_pattern", pattern)

    def spans(self, text: str) -> list[Span]:
        """Spans in order of the text, none over another: where entries begin at one place, the longest is taken."""
        if self._pattern is None:
            return []
        return [Span(m.start(), m.end(), self.type, detector="word_list") for m in self._pattern.finditer(text)]


def chosen(spans: Iterable[Span], types: Sequence[str] | None) -> list[Span]:
    """Spans of the types asked for; None asks for all."""
    return [span for span in spans if types is None or span.type in types]
