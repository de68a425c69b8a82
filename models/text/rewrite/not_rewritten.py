"""No rewriting: texts go through `replace`, as the default has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.models.ledger.entries import LedgerEntry


@dataclass(frozen=True)
class NotRewritten:
    """The member `rewrite: none`: it releases nothing of its own and serves every sink."""

    def setup(self) -> None:
        """Nothing to load."""

    def released(self, sinks: Sequence[str]) -> tuple[str, ...]:
        return ()

    def serves(self, sink: str, from_text: bool) -> str | None:
        return None

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        return LedgerEntry(
            stage="rewrite",
            mechanism="none",
            says="Texts are not rewritten: detected words are replaced, and all others stay.",
            not_protected=("every word that no detector marked",),
        )
