"""Replace detected spans. A strategy never detects and never touches a character outside the spans."""

from __future__ import annotations

from typing import Protocol

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, LedgerEntry, Utterance

TABLE = {
    "redact": "sottovoce.models.replace.placeholder:Redact",
    "typed": "sottovoce.models.replace.placeholder:Typed",
}


class Strategy(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        """Edits of `utterance.text`, sorted, each inside one of `utterance.spans`."""

    def ledger(self) -> LedgerEntry: ...
