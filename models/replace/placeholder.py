"""Placeholders: every span becomes one fixed marker, or a marker that names its type.

At p = 1 the output says nothing of the value (epsilon 0 given span and type). At p < 1 a value stands in the clear with
probability 1 - p, and seeing it settles the matter: epsilon is infinite, and all that holds is (0, 1 - p)-DP per span
(Adelani et al., section 4, quote a finite epsilon here; that overlooks the outcome "kept").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, LedgerEntry, Span, Utterance
from sottovoce.models.settings import require

NOT_PROTECTED = (
    "sensitive words that the detector missed",
    "that something sensitive was there, and where",
    "everything that is not in a span: the rest of the text stays as it was said",
)


@dataclass
class _Placeholder:
    p: float = 1.0

    mechanism: ClassVar[str]
    shows: ClassVar[str]

    def __post_init__(self) -> None:
        require((0 <= self.p <= 1, "p: must lie in [0, 1]"))

    def setup(self) -> None:
        """Nothing to load."""

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        # The text is part of the key, so that an id used twice for different texts does not repeat its coin.
        return [
            Edit(span.begin, span.end, self.marker_for(span))
            for span in utterance.spans
            if self.p == 1 or secret.uniform("replace", utterance.id, utterance.text, span.begin) < self.p
        ]

    def marker_for(self, span: Span) -> str:
        raise NotImplementedError

    def ledger(self) -> LedgerEntry:
        sound = 0.0 if self.p == 1 else math.inf
        kept = (
            "" if self.p == 1 else f" With probability {1 - self.p:g} a span is left in the clear: epsilon is infinite."
        )
        return LedgerEntry(
            stage="replace",
            mechanism=self.mechanism,
            says=f"Every detected span becomes {self.shows}; nothing of the value remains.{kept}",
            not_protected=NOT_PROTECTED,
            parameters={"p": self.p, "epsilon_0_delta_unit": 1 - self.p},
            adjacency="one detected span takes any other value; its position, its type and the rest of the text stay",
            paper={"unit": 0.0},
            sound=dict.fromkeys(("unit", "utterance", "dialogue", "speaker"), sound) | {"delta_unit": 1 - self.p},
        )


@dataclass
class Redact(_Placeholder):
    """Every span becomes the same marker."""

    marker: str = "[REDACTED]"

    mechanism = "redact"
    shows = "one fixed marker"

    def __post_init__(self) -> None:
        super().__post_init__()
        require((bool(self.marker.strip()), "marker: must not be empty"))

    def marker_for(self, span: Span) -> str:
        return self.marker


@dataclass
class Typed(_Placeholder):
    """Every span becomes the name of its type in brackets."""

    mechanism = "typed"
    shows = "the name of its type"

    def marker_for(self, span: Span) -> str:
        return f"[{span.type}]"
