"""Who said it, by voice, among ever more people (COMPRISE D2.3, section 4.2.5).

The attacker of `by_voice.py` who wins most names one of N people. N doubles from 20 to as many as there are; what a draw of N
of them would give is exact: with a of M others ahead, the right one is first with C(M - a, N - 1) / C(M, N - 1). Beyond, up to
a million, it is a simulation and says so: scores of strangers are taken for normal, with the mean that each slice has with
those at hand and one deviation for all; p of them score above the right person, who is first with (1 - p)^(N - 1).
`distance from normal` (Kolmogorov and Smirnov) tells how far that is from what was seen; tails are where it matters, and
there nothing was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import attacks
from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.by_voice import DESIGN, enough_voices, invented_voices
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials
from sottovoce.models.evaluation.metrics.verification import eer

SIMULATED = (1_000, 10_000, 100_000, 1_000_000)
FIRST = (5, 20)


class LargePopulation:
    """Linkage by voice among more people than the corpus has, each stranger more being drawn like those it has."""

    criterion: ClassVar[Criterion] = "linkability"
    says = "has the release, recordings of more and more people and the method; tells by voice whose slice it is"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        voices = enough_voices(material)
        if isinstance(voices, NotMeasurable | NotApplicable):
            return {"stt_am": voices}
        tried = [_Ranked.of(attack.scores) for recordings in voices.values() for attack in attacks(recordings, DESIGN)]
        return dict(_sizes(max(tried, key=lambda ranked: float(ranked.simulated(MIN_PEOPLE, 1).mean()))))

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return invented_voices(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return invented_voices(rng, told=True)


@dataclass(frozen=True, repr=False)
class _Ranked:
    """For each tried slice: whose it is, how many strangers it was compared with, how many of them are ahead (level ones count
    half), and the share that a normal distribution of theirs has ahead."""

    person: np.ndarray
    compared: np.ndarray
    ahead: np.ndarray
    beyond: np.ndarray
    distance: float
    scores: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray) -> _Ranked:
        from scipy.stats import kstest, norm

        count = len(scores)
        own = np.eye(count, dtype=bool)
        right = scores[own]  # [people, trials]
        person, trial = np.nonzero(~np.isnan(right))
        against = np.where(own[:, person], np.nan, scores[:, person, trial])  # [strangers, trials]
        mine = right[person, trial]
        ahead = (against > mine).sum(axis=0) + 0.5 * (against == mine).sum(axis=0)
        compared = (~np.isnan(against)).sum(axis=0)
        means = np.nanmean(against, axis=0)
        spread = max(float(np.sqrt(np.nansum((against - means) ** 2) / (compared - 1).sum())), 1e-9)
        likened = ((against - means) / (spread * np.sqrt(1 - 1 / compared))).ravel()
        distance = float(kstest(likened[~np.isnan(likened)], norm.cdf).statistic)
        beyond = norm.sf((mine - means) / (spread * np.sqrt(1 + 1 / compared)))  # the mean is one of a few, too
        return cls(person, compared, ahead, beyond, distance, scores)

    def among(self, people: int, first: int) -> np.ndarray:
        """How likely the right one is among the `first` of so many people, drawn from those at hand."""
        from scipy.stats import hypergeom

        return hypergeom.cdf(first - 1, self.compared, np.ceil(self.ahead), people - 1)

    def simulated(self, people: int, first: int) -> np.ndarray:
        from scipy.stats import binom

        return binom.cdf(first - 1, people - 1, self.beyond)

    def eer_of(self, people: int) -> float:
        scores, own = self.scores[:people, :people], np.eye(people, dtype=bool)
        mated, other = scores[own].ravel(), scores[~own].ravel()
        return eer(mated[~np.isnan(mated)], other[~np.isnan(other)])


def _sizes(ranked: _Ranked) -> Iterator[tuple[str, Trials]]:
    """An attacker that learns compares people of one fold only: for it, more than those are a simulation, too."""
    everybody, at_hand = len(ranked.scores), int(ranked.compared.min()) + 1
    doubled = [size for size in (MIN_PEOPLE << times for times in range(16)) if size < everybody]
    for size in (*doubled, everybody, *(size for size in SIMULATED if size > everybody)):
        counted = size <= at_hand
        likely = ranked.among if counted else ranked.simulated
        more = {f"among the first {k}": float(likely(size, k).mean()) for k in FIRST if k < size}
        ahead = ranked.ahead / ranked.compared if counted else ranked.beyond
        more["mean rank"] = float(1 + (size - 1) * ahead.mean())
        more |= {"distance from normal": ranked.distance} if not counted else {}
        more |= {"EER": ranked.eer_of(size)} if size <= everybody else {}
        where = f"{size} people" + ("" if counted else ", simulated")
        yield where, _trials(ranked, size, likely(size, 1), more)


def _trials(ranked: _Ranked, size: int, hits: np.ndarray, more: dict[str, float]) -> Trials:
    return Trials(hits, np.full(len(hits), 1 / size), [str(place) for place in ranked.person], more)
