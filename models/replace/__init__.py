"""Replace detected spans. A strategy never detects and never touches a character outside the spans."""

from __future__ import annotations

from typing import Protocol

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, LedgerEntry, Utterance

TABLE = {
    "redact": "sottovoce.models.replace.placeholder:Redact",
    "typed": "sottovoce.models.replace.placeholder:Typed",
    "named": "sottovoce.models.replace.placeholder:Named",
    "word": "sottovoce.models.replace.surrogate:Word",
    "full": "sottovoce.models.replace.surrogate:Full",
    "consistent": "sottovoce.models.replace.surrogate:Consistent",
}


class Strategy(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        """Edits of `utterance.text`, sorted, each inside one of `utterance.spans`."""

    def cost(self, utterance: Utterance) -> float:
        """The epsilon that replacing in this utterance spends of its speaker's budget. Counting the corpus beforehand
        (`counting`, `private_counts.py`) comes on top, once for each speaker and run."""

    def ledger(self) -> LedgerEntry: ...
