"""Rewrite whole utterances instead of replacing what was detected in them: the members that a job may name for its texts.

Some rewrite each utterance for itself (`RewritesEach`), others release what a crowd has said (`ReleasesTemplates`). Either way
the text of a sink is all the mechanism's own: no word passes because no detector marked it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.private_counts import CountSettings, Pair

TABLE = {
    "none": "sottovoce.models.text.rewrite.not_rewritten:NotRewritten",
    "crowd": "sottovoce.models.text.rewrite.crowd:Crowd",
    "adept": "sottovoce.models.text.rewrite.adept:Adept",
    "metric": "sottovoce.models.text.rewrite.metric:MetricPrivacy",
}
LANGUAGES: dict[str, tuple[str, ...]] = {}  # templates are made of what detection left, in any language
NONE = "none"


class Rewriter(Protocol):
    """Releases texts made anew, where a strategy changes spans of the old ones."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def released(self, sinks: Sequence[str]) -> tuple[str, ...]:
        """What a reader of these sinks learns exactly, whatever the mechanism draws."""

    def serves(self, sink: str, from_text: bool) -> str | None:
        """None where the sink may be rewritten; otherwise the reason why not, for the error message. `from_text`: the voice
        of the run says released texts, and takes nothing from recordings."""

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        """What the rewriter gives after this detector; None where nothing is known of who detects."""


class RewritesEach(ABC):
    """Besides being a Rewriter: one that makes of each utterance another one."""

    @abstractmethod
    def rewrite(self, utterance: Utterance, secret: Secret) -> Utterance:
        """The same record with another text, intent and slots."""

    @abstractmethod
    def cost(self) -> float:
        """The epsilon of one utterance."""


@dataclass(frozen=True)
class Count:
    """One count of the corpus: templates of a rung of the ladder, or parts of utterances, with what it may spend."""

    name: str
    settings: CountSettings


class ReleasesTemplates(ABC):
    """Besides being a Rewriter: one that counts templates over the speakers and releases those that enough of them said."""

    copies: int  # records of one template at most

    @property
    @abstractmethod
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) for a speaker who takes part, over all counts and sinks together."""

    utterances_per_speaker: int  # that are counted

    @abstractmethod
    def counts(self) -> list[Count]:
        """In order: an utterance of which something is released on one count is not counted on the next."""

    @abstractmethod
    def adds(self, utterance: Utterance, sink: str) -> dict[str, list[Pair]]:
        """By count: what the utterance may add to it, of which one is taken. Templates are of the kind `<rung>/<sink>`, parts
        of `words/<sink>` or `values/<slot>`."""

    @abstractmethod
    def sort_of(self, utterance: Utterance, sink: str) -> str:
        """Utterances of one speaker that are of one sort count as one."""

    @abstractmethod
    def fill(self, template: Pair, values: Mapping[str, Mapping[str, float]], draws: Draws) -> Utterance | None:
        """One record of a released template, without ids; None where nothing is left to say."""
