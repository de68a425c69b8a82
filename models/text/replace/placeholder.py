"""Placeholders: every span becomes one fixed marker, or a marker that names its type.

At p = 1 the output says nothing of the value (epsilon 0 given span and type). At p < 1 a value stands in the clear with
probability 1 - p, and seeing it settles the matter: epsilon is infinite, and all that holds is (0, 1 - p)-DP per span
(Adelani et al., section 4, quote a finite epsilon here; that overlooks the outcome "kept").
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, Span, Utterance
from sottovoce.models.settings import require
from sottovoce.models.text.replace.account import with_recall
from sottovoce.models.text.replace.surface import article_edits, render, style_of, without_possessive

NOT_PROTECTED = (
    "sensitive words that the detector missed",
    "that something sensitive was there, and where",
    "everything that is not in a span: the rest of the text stays as it was said",
)

# One value for each type. The domain example.com belongs to nobody (RFC 2606).
EXAMPLES = {
    "PER": "alex",
    "LOC": "springfield",
    "ORG": "acme",
    "DATE": "monday",
    "TIME": "noon",
    "PHONE": "zero one two three four five six",
    "CARD": "zero zero zero zero",
    "IBAN": "zero zero zero zero",
    "ID": "zero zero zero zero",
    "CODE": "one two three",
    "AMOUNT": "ten dollars",
    "EMAIL": "alex at example dot com",
    "URL": "www dot example dot com",
    "HEALTH": "an illness",
}


@dataclass
class _Placeholder(ABC):
    p: float = 1.0
    recall: float | None = None  # of the detector, for the ledger
    recall_on: str = ""  # the data set on which it was measured

    mechanism: ClassVar[str]
    shows: ClassVar[str]
    not_protected: ClassVar[tuple[str, ...]] = NOT_PROTECTED

    def __post_init__(self) -> None:
        require(
            (0 <= self.p <= 1, "p: must lie in [0, 1]"),
            (self.recall is None or 0 < self.recall <= 1, "recall: must lie in (0, 1]"),
        )

    def setup(self) -> None:  # noqa: B027  (not abstract: there is nothing to load)
        """Nothing to load."""

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        # The text is part of the key, so that an id used twice for different texts does not repeat its coin.
        text = secret.token("text", utterance.text) if self.p < 1 else ""
        hit = [
            without_possessive(span, utterance.text)
            for span in utterance.spans
            if self.p == 1 or secret.uniform("replace", utterance.dialogue_id, utterance.id, text, span.begin) < self.p
        ]
        return [
            Edit(span.begin, span.end, self.marker_for(span, utterance.text[span.begin : span.end])) for span in hit
        ]

    def costs(self, utterance: Utterance, secret: Secret) -> dict[str, float]:
        if self.p == 1 or not utterance.spans:
            return {}
        return {secret.token("charged unit", utterance.dialogue_id, utterance.id): math.inf}

    @abstractmethod
    def marker_for(self, span: Span, old: str) -> str:
        """What stands in place of `old`, the text of the span."""

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        sound = 0.0 if self.p == 1 else math.inf
        kept = (
            "" if self.p == 1 else f" With probability {1 - self.p:g} a span is left in the clear: epsilon is infinite."
        )
        return LedgerEntry(
            stage="replace",
            mechanism=self.mechanism,
            says=f"Every detected span becomes {self.shows}; nothing of the value remains.{kept if self.p < 1 else ''}",
            not_protected=self.not_protected,
            parameters={"p": self.p, "delta_unit_at_epsilon_0": 1 - self.p}
            | with_recall(self, detector)._of_detector(),
            adjacency="one detected span takes any other value; its position, its type and the rest of the text stay",
            paper={"unit": 0.0},
            sound=dict.fromkeys(("unit", "utterance", "dialogue", "speaker"), sound),
            infinite_because=kept.strip() if self.p < 1 else None,
        )

    def _of_detector(self) -> dict[str, float | str]:
        if self.recall is None:
            return {"recall": "not stated", "fraction_in_clear": "not known: the recall of the detector is not stated"}
        return {
            "recall": self.recall,
            "recall_on": self.recall_on or "not stated",
            "fraction_in_clear": 1 - self.recall * self.p,
        }


@dataclass
class Redact(_Placeholder):
    """Every span becomes the same marker."""

    marker: str = "[REDACTED]"

    mechanism = "redact"
    shows = "one fixed marker"

    def __post_init__(self) -> None:
        _Placeholder.__post_init__(self)
        require((bool(self.marker.strip()), "marker: must not be empty"))

    def marker_for(self, span: Span, old: str) -> str:
        return self.marker


@dataclass
class Typed(_Placeholder):
    """Every span becomes the name of its type in brackets."""

    mechanism = "typed"
    shows = "the name of its type"
    not_protected = (*NOT_PROTECTED, "the type of the span")

    def marker_for(self, span: Span, old: str) -> str:
        return f"[{span.type}]"


@dataclass
class Named(_Placeholder):
    """Every span becomes one fixed value of its type: readable text in which all people share one name."""

    mechanism = "named"
    shows = "one fixed value of its type"
    not_protected = (*NOT_PROTECTED, "the type of the span and its letter case")

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        """ "a coca-cola" becomes "an acme"."""
        edits = super().replace(utterance, secret)
        for edit in tuple(edits):
            edits += article_edits(utterance.text, edit.begin, edit.replacement, edits)
        return sorted(edits, key=lambda edit: edit.begin)

    def marker_for(self, span: Span, old: str) -> str:
        return render(EXAMPLES.get(span.type, f"[{span.type}]"), style_of(old))
