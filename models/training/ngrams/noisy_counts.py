"""3-grams counted under differential privacy: a language model for recognisers without a single gradient.

Each unit (a speaker, or a line) adds one to at most `per_unit` n-grams of each order, drawn by key, so a count vector moves by
sqrt(per_unit) at most and gets Gaussian noise of z sqrt(per_unit). Words come from a public vocabulary and are all noised.
Pairs and triples are too many for that: only those that occur are noised, and are released if they are above

    T = 1 + sigma Phi^-1((1 - delta_T)^(1 / per_unit))

so that those of one unit alone appear with probability delta_T at most (Korolova et al. 2009). Three Gaussian releases are
mu = sqrt(3) / z of Gaussian differential privacy; half of delta pays for them, a quarter for each of the two thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.settings import require
from sottovoce.models.training.networks.member import Member
from sottovoce.models.training.networks.vocabulary import WORDS, Vocabulary, vocabulary_of
from sottovoce.models.training.ngrams.backoff import ORDER, Backoff, Gram, backoff_of, grams_of
from sottovoce.models.training.privacy.composition import gdp_epsilon
from sottovoce.models.training.privacy.noise import NoiseSource


@dataclass(frozen=True)
class CountsModel(Member):
    """`per_unit` n-grams of each order count of one unit; `vocabulary` and `size` as for the other language models."""

    task: ClassVar[str] = "lm"

    per_unit: int = 20
    vocabulary: str = WORDS
    size: int = 8000

    def __post_init__(self) -> None:
        require((self.per_unit >= 1 and self.size >= 1, "per_unit, size: must be at least 1"))

    @property
    def counts(self) -> bool:
        return True

    def words(self) -> Vocabulary:
        """The public vocabulary; SettingsError where it is one of pieces, which n-grams of whole words cannot use."""
        vocabulary = vocabulary_of(self.vocabulary, self.size)
        if vocabulary.tokenizer is not None:
            raise SettingsError(["model.vocabulary: counts is a model of whole words; use words, or a word list"])
        return vocabulary

    def network(self, schema: Any) -> Any:
        raise SettingsError(["model: counts is not trained by steps"])


def counting_epsilon(z: float, delta: float) -> float:
    """What noise multiplier z costs over all three orders; half of `delta` pays for it, the rest for the thresholds."""
    return gdp_epsilon(math.sqrt(ORDER) / z, delta / 2)


def counting_z(target_epsilon: float, delta: float) -> float:
    """The least noise within the target, on the safe side."""
    from scipy.optimize import brentq

    found = float(
        brentq(lambda log_z: counting_epsilon(math.exp(log_z), delta) - target_epsilon, -6.0, 12.0, xtol=1e-9)
    )
    return math.exp(found) * (1 + 1e-6)


def count_units(
    units: Sequence[Sequence[Sequence[str]]], member: CountsModel, z: float, delta: float, key: Secret
) -> Backoff:
    """`units` are the lines of each. Nothing that is returned was not noised."""
    vocabulary, counts = member.words(), _counted(units, member, key)
    sigma = z * math.sqrt(member.per_unit)
    noised: dict[Gram, float] = {}
    for order in range(1, ORDER + 1):
        if order == 1:
            grams: list[Gram] = [(word,) for word in (*vocabulary.names[4:], "<unk>", "</s>")]
            floor = -math.inf
        else:
            grams = sorted(gram for gram in counts if len(gram) == order)
            floor = threshold(sigma, member.per_unit, delta / 4)
        # The number of grams beyond the first order is private: noise is drawn by name, in an order that tells nothing.
        for gram, noise in zip(grams, _normals(len(grams), key, order), strict=True):
            value = counts.get(gram, 0) + sigma * noise
            if value > floor:
                noised[gram] = value
    return backoff_of(noised, vocabulary.names[4:])


def threshold(sigma: float, per_unit: int, delta: float) -> float:
    """The T of the formula above: a noised count over it is released; `delta` is what one order spends on this."""
    from scipy.stats import norm

    return 1 + sigma * float(norm.isf(-math.expm1(math.log1p(-delta) / per_unit)))


def _counted(units: Iterable[Sequence[Sequence[str]]], member: CountsModel, key: Secret) -> dict[Gram, int]:
    vocabulary = member.words().numbers
    counts: dict[Gram, int] = {}
    for number, lines in enumerate(units):
        own = {gram for line in lines for gram in grams_of(line, vocabulary)}
        for order in range(1, ORDER + 1):
            some = sorted(gram for gram in own if len(gram) == order)
            if len(some) > member.per_unit:
                order_of = key.generator("n-grams of a unit", number, order).permutation(len(some))
                some = [some[place] for place in order_of[: member.per_unit]]
            for gram in some:
                counts[gram] = counts.get(gram, 0) + 1
    return counts


def _normals(count: int, key: Secret, order: int) -> list[float]:
    if not count:
        return []
    source = NoiseSource(key, count, torch.device("cpu"), "noise of counts")
    return [float(x) for _, normals in source.draw(order, 0) for x in normals.clone()]
