"""Find what is sensitive in a text. A detector only finds; it never rewrites."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.text import languages

TABLE = {
    "default": "sottovoce.models.text.detect.ensemble:Ensemble",
    "ensemble": "sottovoce.models.text.detect.ensemble:Ensemble",
    "rules": "sottovoce.models.text.detect.rules:Rules",
    "tagger": "sottovoce.models.text.detect.tagger:Tagger",
    "gazetteer": "sottovoce.models.text.detect.gazetteer:Gazetteer",
    "health": "sottovoce.models.text.detect.health:Health",
    "flair": "sottovoce.models.text.detect.flair_tagger:Flair",
    "llm": "sottovoce.models.text.detect.llm:LanguageModel",
    "hf": "sottovoce.models.text.detect.hf:HuggingFace",
}

ENGLISH = "en"
TAGGED = ("de", ENGLISH, "es", "fr", "it", "lv", "nl", "pl", "pt")  # what the shipped taggers learnt

# The languages that a member knows; no row: it depends on none, or on the model that a job names.
LANGUAGES: dict[str, Iterable[str]] = {
    "default": TAGGED, "ensemble": TAGGED, "rules": languages.TABLE, "tagger": TAGGED,
    "health": (ENGLISH,),
}  # fmt: skip
# Of everybody's `not_protected`: a detector finds values, and people are known by more than those.
CONTEXT = "whatever the context gives away: job, relations, rare events"


class Detector(Protocol):
    """Finds sensitive stretches of text and never rewrites."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        """Spans of each text: sorted, not overlapping, inside the text."""

    def finds(self) -> frozenset[str] | None:
        """The types that it can report; None where only the loaded model knows."""

    def ledger(self) -> LedgerEntry:
        """What the ledger says of detecting: what is looked for, with which measured recall, and what is not found."""


class ByLanguage(ABC):
    """Besides being a Detector: one that looks for other things in each language."""

    @abstractmethod
    def detect_in(self, code: str, texts: Sequence[str]) -> list[list[Span]]:
        """As `detect`, of texts in one language; of one that it does not know, as in English."""

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        return self.detect_in(ENGLISH, texts)
