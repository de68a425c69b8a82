"""The options that all surrogate strategies share, and what they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.models.settings import require
from sottovoce.models.text.replace import CountsCorpus
from sottovoce.models.text.replace.private_counts import CountSettings


@dataclass
class SurrogateOptions(CountsCorpus):
    """Options of every strategy here. Neither `p` nor `target_epsilon`: every unit is replaced (p = 1, epsilon 0)."""

    p: float | None = None
    target_epsilon: float | None = None  # of one unit; p follows for each list
    p_mode: Literal["uniform", "token"] = "uniform"  # token: a p for each value, which keeps more at the same epsilon
    mix: float = 0.1  # share of the uniform distribution in every list
    keep_gender: bool = True  # a listed given name is replaced by one of the same gender
    values: Literal["public", "corpus", "corpus_raw"] = "public"
    corpus_epsilon: float = 1.0
    corpus_delta: float = 1e-6
    corpus_noise: Literal["laplace", "gaussian"] = "laplace"
    corpus_vocabulary: Literal["open", "list"] = "open"  # list: only values of the public lists are counted
    values_per_speaker: int = 10
    units_per_utterance: int = 5  # further units of an utterance are always replaced
    units_per_dialogue: int = 20  # for the figures of the ledger only
    units_per_speaker: int = 100  # for the figures of the ledger only
    delta: float = 1e-5
    recall: float | None = None  # of the detector, for the ledger
    recall_on: str = ""  # the data set on which it was measured

    def __post_init__(self) -> None:
        require(
            (self.p is None or 0 < self.p <= 1, f"p: {self.p} must lie above 0 and at most at 1"),
            (self.p is None or self.target_epsilon is None, "p, target_epsilon: give one of them"),
            (self.target_epsilon is None or 0 < self.target_epsilon <= 50, "target_epsilon: must lie in (0, 50]"),
            (self.p_mode == "uniform" or self.target_epsilon is not None, "p_mode: token needs target_epsilon"),
            (0 <= self.mix <= 1, "mix: must lie in [0, 1]"),
            (
                self.values != "corpus" or self.p in (None, 1.0),
                "values: with corpus give target_epsilon instead of p (the list is not known before the run)",
            ),
            (self.recall is None or 0 < self.recall <= 1, "recall: must lie in (0, 1]"),
            (0 < self.delta < 1 and 0 < self.corpus_delta < 1, "delta, corpus_delta: must lie between 0 and 1"),
            (self.corpus_epsilon > 0, "corpus_epsilon: must be above 0"),
            (
                min(self.units_per_utterance, self.units_per_dialogue, self.units_per_speaker) >= 1,
                "units_per_utterance, units_per_dialogue, units_per_speaker: must be at least 1",
            ),
            (self.values_per_speaker >= 1, "values_per_speaker: must be at least 1"),
        )

    @property
    def counting(self) -> CountSettings | None:
        """How the values of the corpus are to be counted before replacing; None where public lists are used."""
        if self.values == "public":
            return None
        return CountSettings(
            epsilon=self.corpus_epsilon if self.values == "corpus" else None,
            delta=self.corpus_delta,
            noise=self.corpus_noise,
            values_per_speaker=self.values_per_speaker,
            vocabulary=self.corpus_vocabulary if self.values == "corpus" else "open",
        )
