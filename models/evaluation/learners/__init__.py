"""Recognisers that are trained here and now, to tell what speech is worth to those who train on it.

A recogniser that decodes anonymised speech well does not show that it teaches anything: clear speech is not varied speech.
So a learner is trained on what would be released and tested on original speech of people whom it has not heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.lexicon import Lexicon

TABLE = {
    "map": "sottovoce.models.evaluation.learners.map_adapted:MapAdapted",
    "ctc": "sottovoce.models.evaluation.learners.ctc:CtcFromScratch",
}


@dataclass(frozen=True, slots=True, repr=False)
class SpokenExample:
    """Speech and the words that are said in it, as a dictionary has them ("c." is the letter)."""

    speech: Speech
    words: tuple[str, ...]

    def __repr__(self) -> str:
        return "<Example: sensitive>"


class TrainedRecogniser(Protocol):
    """What a learner has made of its examples."""

    def hear(self, speech: Speech) -> tuple[str, ...]:
        """The words of the vocabulary that fit best; every word is as likely as every other."""


class Learner(Protocol):
    """Trains a recogniser on given speech: a row of the table."""

    ready: ClassVar[bool]  # it starts from a trained model, and so can be tested without any training
    drawn: ClassVar[bool]  # another seed gives another recogniser: several trainings are averaged

    def setup(self) -> None:
        """Find what is needed, or say how to get it."""

    def cost_s(self, training_s: float, test_s: float) -> float:
        """A rough guess of the processor time of one training and its test, for so many seconds of speech."""

    def train(
        self, examples: Sequence[SpokenExample], lexicon: Lexicon, vocabulary: Sequence[str], seed: int
    ) -> TrainedRecogniser:
        """A recogniser of the words of `vocabulary`. `lexicon` knows these and all words of the examples.

        Without examples, a `ready` learner gives the model that it starts from.
        """
