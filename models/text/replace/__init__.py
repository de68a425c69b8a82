"""Replace detected spans. A strategy never detects and never touches a character outside the spans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, Utterance
from sottovoce.models.text.languages import TABLE as TABLE_OF_LANGUAGES
from sottovoce.models.text.replace.private_counts import CountSettings

TABLE = {
    "redact": "sottovoce.models.text.replace.placeholder:Redact",
    "typed": "sottovoce.models.text.replace.placeholder:Typed",
    "named": "sottovoce.models.text.replace.placeholder:Named",
    "word": "sottovoce.models.text.replace.surrogate:WordSurrogate",
    "full": "sottovoce.models.text.replace.surrogate:Full",
    "consistent": "sottovoce.models.text.replace.consistent:Consistent",
}

# Whose surrogates are of a language; markers are of none.
LANGUAGES = {"named": ("en",), "word": tuple(TABLE_OF_LANGUAGES)}
LANGUAGES |= dict.fromkeys(("full", "consistent"), LANGUAGES["word"])


class Strategy(Protocol):
    """Replaces the spans of a text by other text."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        """Edits of `utterance.text`, sorted, each inside one of `utterance.spans`."""

    def costs(self, utterance: Utterance, secret: Secret) -> dict[str, float]:
        """The epsilon of each unit that replacing answers for, by a keyed hash: mentions that share a coin share one, and
        are paid for once. Counting the corpus beforehand (`counting`, `private_counts.py`) comes on top, once for each
        speaker and run."""

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        """What the strategy gives after this detector; None where nothing is known of who detects."""


class CountsCorpus(ABC):
    """Besides being a Strategy: one that may draw from values counted in the corpus, under differential privacy."""

    @property
    @abstractmethod
    def counting(self) -> CountSettings | None:
        """How the corpus must be counted before anything is replaced; None where these options need no count."""

    @abstractmethod
    def values_of(self, utterance: Utterance) -> Iterator[tuple[str, str]]:
        """(type, value) of every unit that is counted."""

    @abstractmethod
    def listed_values(self) -> Iterator[tuple[str, str]]:
        """(type, value) of the vocabulary of a count that releases listed values only."""

    @abstractmethod
    def use_corpus(self, lists: dict[str, dict[str, float]]) -> None:
        """Takes the released weights by type and value."""
