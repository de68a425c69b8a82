"""Which values a corpus holds and how often, under differential privacy (value dissociation).

Each speaker contributes at most K different values, each once, so that adding or removing a speaker changes at most K
counts by 1. Noise is added to every count that is not zero, and only noisy counts above a threshold are released: a
value that a single speaker brought passes with probability at most delta in all. Laplace: scale K / epsilon, threshold
1 + (K / epsilon) ln(K / (2 delta)). Gaussian: half of delta pays for the noise (sigma by the exact condition of Balle and
Wang 2018, sensitivity sqrt(K)), half for the threshold. Laplace noise may fall off more slowly downwards (`silence`): with
rates e = epsilon / K above zero and s = silence / K below, a count c + 1 is at most exp(e) times as likely to give any noisy
count as c is, and c at most exp(s) times as likely as c + 1; the threshold is then 1 + ln(K s / ((e + s) delta)) / e. What
that is good for stands in `models/text/rewrite/ladder.py`. With a public vocabulary no threshold is needed: every listed
value gets noise, and Laplace is then pure epsilon. Where drawn, noise is in double precision; what is released are
whole counts.

When noise may repeat. Two releases with the same noise on counts that differ show the difference exactly. Noise that
follows from the counts themselves (a keyed hash of them) is no way out: two releases would be equal if and only if
nobody came or went in between, which tells the presence of one speaker with certainty. So noise belongs to one execution
of a run, by a nonce drawn for it, and what it gave is kept (`transforms/text/value_distribution.py`):

* A bundle that is tried again has the same nonce and the same counts: it repeats.
* A second execution of the run, be it `--force` or one that completes a killed one, finds the lists of the first and uses
  them, whatever its counts are: a function of what was released already, which costs nothing. Where the first never got
  as far as its lists, nothing that depends on its noise is anywhere, and fresh noise is a first release.
* Another run has another nonce: independent noise, and the epsilons of the two add up (basic composition).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sottovoce.models.ledger.gaussian import gaussian_sigma
from sottovoce.models.randomness import Secret

Pair = tuple[str, str]  # type, value
Contribution = tuple[bytes, str, str]  # keyed hash, type, value


@dataclass(frozen=True)
class CountSettings:
    """`epsilon` None counts without noise and without bounds: no guarantee at all. `silence`, for Laplace noise: what the lower
    tail may spend; None: epsilon, the usual noise."""

    epsilon: float | None
    delta: float
    noise: Literal["laplace", "gaussian"]
    values_per_speaker: int
    vocabulary: Literal["open", "list"] = "open"
    silence: float | None = None

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) for each speaker whose values are counted. Exact counts have no price: they cannot be paid."""
        pure = self.vocabulary == "list" and self.noise == "laplace"
        return (0.0, 0.0) if self.epsilon is None else (self.epsilon, 0.0 if pure else self.delta)


def laplace_scale(epsilon: float, values_per_speaker: int, replace_one: bool = False) -> float:
    """Adding or removing a speaker changes K counts; replacing one by another changes up to 2 K."""
    return (2 if replace_one else 1) * values_per_speaker / epsilon


def laplace_threshold(epsilon: float, delta: float, values_per_speaker: int, silence: float | None = None) -> float:
    """What a noisy count must exceed: values that one speaker alone brought pass with probability at most delta in all."""
    above = 0.5 if silence is None else silence / (epsilon + silence)  # the share of the noise that lies above zero
    return 1 + laplace_scale(epsilon, values_per_speaker) * math.log(values_per_speaker * above / delta)


def gaussian_threshold(delta: float, values_per_speaker: int, sigma: float) -> float:
    """One count of 1 passes with probability q; K of them stay below with (1 - q)^K = 1 - delta."""
    from scipy.special import ndtri

    return 1 - sigma * ndtri(-math.expm1(math.log1p(-delta) / values_per_speaker))


def threshold_of(settings: CountSettings) -> float:
    """What a noisy count must exceed to be released."""
    return _threshold(settings)


def smallest(contributions: Iterable[Contribution], limit: int) -> list[Contribution]:
    """At most `limit` different values, chosen by the keyed hash: a random choice that does not depend on the order."""
    return sorted(set(contributions))[:limit]


def noisy_count(pair: Pair, count: int, settings: CountSettings, secret: Secret, nonce: str) -> float | None:
    """What is released of a count, or None. `nonce` belongs to one execution of one run, and so does the noise."""
    if settings.epsilon is None:
        return float(count)
    noisy = count + _noise(settings, secret, nonce, pair)
    if settings.vocabulary == "open" and noisy <= _threshold(settings):
        return None
    return max(1.0, float(round(noisy)))


def gather(released: Iterable[tuple[Pair, float]]) -> dict[str, dict[str, float]]:
    """Type -> value -> weight, in an order that tells nothing of the corpus."""
    lists: dict[str, dict[str, float]] = {}
    for (type_, value), weight in sorted(released):
        lists.setdefault(type_, {})[value] = weight
    return lists


@functools.lru_cache(maxsize=16)
def _threshold(settings: CountSettings) -> float:
    assert settings.epsilon is not None
    if settings.noise == "laplace":
        return laplace_threshold(settings.epsilon, settings.delta, settings.values_per_speaker, settings.silence)
    return gaussian_threshold(settings.delta / 2, settings.values_per_speaker, _sigma(settings))


@functools.lru_cache(maxsize=8)
def _sigma(settings: CountSettings) -> float:
    assert settings.epsilon is not None
    return gaussian_sigma(settings.epsilon, settings.delta / 2, math.sqrt(settings.values_per_speaker))


def _noise(settings: CountSettings, secret: Secret, nonce: str, pair: Pair) -> float:
    assert settings.epsilon is not None
    generator = secret.generator("count noise", nonce, *pair)
    if settings.noise == "laplace":
        above = laplace_scale(settings.epsilon, settings.values_per_speaker)
        if settings.silence is None:
            return float(generator.laplace(scale=above))
        below = laplace_scale(settings.silence, settings.values_per_speaker)
        return float(generator.exponential(above) - generator.exponential(below))
    return float(generator.normal(scale=_sigma(settings)))
