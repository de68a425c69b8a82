"""Several detectors as one: everything that any of them finds. The default is the rules and the shipped tagger.

Overlaps are resolved by `overlap.py`, which never shrinks coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.settings import HoldsMembers, Spec, read_spec, require
from sottovoce.models.text.detect import ByLanguage
from sottovoce.models.text.detect.overlap import resolve
from sottovoce.models.text.detect.tagger import SHIPPED, SHIPPED_LANGUAGES, in_other_languages, quote, read_measured
from sottovoce.models.text.language import detect_in

DEFAULT = ("rules", "tagger")


@dataclass
class Ensemble(ByLanguage, HoldsMembers):
    """`detectors`: names, or mappings with `use` and options, as a job file would have them."""

    holds: ClassVar[str] = "detectors"

    detectors: tuple[Any, ...] = DEFAULT

    def __post_init__(self) -> None:
        require((len(self.detectors) > 0, "detectors: name at least one"))
        self._specs: list[Spec] = [read_spec("detect", value) for value in self.detectors]
        self._members: list[Any] = [spec.make() for spec in self._specs]

    def setup(self) -> None:
        for member in self._members:
            member.setup()

    def detect_in(self, code: str, texts: Sequence[str]) -> list[list[Span]]:
        found = [detect_in(member, code, texts) for member in self._members]
        return [
            resolve([span for spans in alternatives for span in spans], text)
            for text, *alternatives in zip(texts, *found, strict=True)
        ]

    def finds(self) -> frozenset[str] | None:
        known = [member.finds() for member in self._members]
        return None if None in known else frozenset().union(*known)

    def ledger(self) -> LedgerEntry:
        parts = [member.ledger() for member in self._members]
        measured = read_measured(SHIPPED, "default") if self.detectors == DEFAULT else {}
        elsewhere = read_measured(SHIPPED_LANGUAGES, "default") if self.detectors == DEFAULT else {}
        names = " and ".join(part.mechanism for part in parts)
        alone = "The recall of this combination has not been measured. " + " ".join(part.says for part in parts)
        return LedgerEntry(
            stage="detect",
            mechanism=" + ".join(part.mechanism for part in parts),
            says=f"Everything that any of {names} finds. "
            + (quote(measured) if measured else alone)
            + in_other_languages(elsewhere),
            not_protected=_common(parts),
            parameters={
                "detectors": {part.mechanism: part.parameters for part in parts},
                "measured": measured,
                "measured_in_other_languages": elsewhere,
            },
        )


def _common(parts: Sequence[LedgerEntry]) -> tuple[str, ...]:
    """What is left open by every member in the same words, else by the last: a gap of one may be another's work."""
    shared = [line for line in parts[-1].not_protected if all(line in part.not_protected for part in parts)]
    own = [line for line in parts[-1].not_protected if line not in shared]
    return tuple(own + shared)
