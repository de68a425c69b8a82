"""How well scores tell pairs of one speaker from pairs of two: EER, Cllr, and Cllr_min.

Scores are read as natural log likelihood ratios by Cllr = (E log2(1 + e^-s | mated) + E log2(1 + e^s | non-mated)) / 2
(Brümmer and du Preez, Computer Speech & Language 2006): 0 tells all, 1 nothing, above 1 misleads. Cllr_min is Cllr after
the best monotone calibration, found by pooling adjacent violators (PAV). The EER is taken on the convex hull of the ROC
(ROCCH), whose corners are PAV's blocks: it does not depend on how ties fall. 0.5 is a coin toss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.metrics.estimate import Estimate, interval
from sottovoce.models.settings import require

Scores = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Verification:
    """Equal error rate, and the cost of the scores as they are and as they could be (Cllr, Cllr_min, in bits)."""

    eer: float
    cllr: float
    cllr_min: float


def verification(mated: Scores, non_mated: Scores) -> Verification:
    """All three figures of two samples of scores. SettingsError where one is empty or a score is not finite."""
    scores = _Counted.of(mated, non_mated)
    return scores.figures(scores.linked, scores.other)


def estimates(mated: Scores, non_mated: Scores, repeats: int = 200, seed: int = 0) -> dict[str, Estimate]:
    """The three figures with intervals, drawing scores again. Right for pairs that share no speaker; where they do, draw
    speakers again instead. The seed only makes the report repeatable."""
    scores = _Counted.of(mated, non_mated)
    rng = np.random.default_rng(seed)
    counts = [part.sum() for part in (scores.linked, scores.other)]
    drawn = []
    for _ in range(repeats):
        linked = rng.multinomial(counts[0], scores.linked / counts[0])
        drawn.append(scores.figures(linked, rng.multinomial(counts[1], scores.other / counts[1])))
    found = scores.figures(scores.linked, scores.other)
    return {name: interval(getattr(found, name), [getattr(d, name) for d in drawn]) for name in vars(found)}


def eer(mated: Scores, non_mated: Scores) -> float:
    """The equal error rate alone, as a share: 0 tells all, 0.5 is a coin toss."""
    return verification(mated, non_mated).eer


def over_speakers(
    scores: np.ndarray, figure: Callable[[np.ndarray, np.ndarray], float], repeats: int = 200
) -> Estimate:
    """A figure of scores [speakers enrolled, speakers tested, trials] with an interval over draws of speakers.

    Scores of one speaker are not independent, so an interval over scores would be too narrow. A pair of two draws of one
    speaker is neither mated nor non-mated and is left out. NaN marks a trial that is absent.
    """
    count, rng = len(scores), np.random.default_rng(0)

    def of(chosen: np.ndarray) -> float:
        among = scores[np.ix_(chosen, chosen)]
        same = chosen[:, None] == chosen[None]
        own, non_mated = among[np.eye(count, dtype=bool)].ravel(), among[~same].ravel()
        own, non_mated = own[~np.isnan(own)], non_mated[~np.isnan(non_mated)]
        return figure(own, non_mated) if len(own) and len(non_mated) else np.nan

    drawn = np.array([of(rng.integers(0, count, count)) for _ in range(repeats)])
    return interval(of(np.arange(count)), drawn[~np.isnan(drawn)])


@dataclass(frozen=True, repr=False)
class _Counted:
    """Distinct scores in order, and how often each was seen among mated (`linked`) and non-mated (`other`) pairs."""

    scores: np.ndarray
    linked: np.ndarray
    other: np.ndarray

    @classmethod
    def of(cls, mated: Scores, non_mated: Scores) -> _Counted:
        linked, other = np.asarray(mated, float), np.asarray(non_mated, float)
        require(
            (len(linked) > 0 and len(other) > 0, "scores: both kinds are needed"),
            (bool(np.isfinite(linked).all() and np.isfinite(other).all()), "scores: must be finite"),
        )
        scores, places = np.unique(np.concatenate([linked, other]), return_inverse=True)
        count = len(scores)
        return cls(
            scores,
            np.bincount(places[: len(linked)], minlength=count),
            np.bincount(places[len(linked) :], minlength=count),
        )

    def figures(self, linked: np.ndarray, other: np.ndarray) -> Verification:
        ends = self._hull(linked, other)
        # Shares of mated and of non-mated pairs in each block of equal calibrated score, lowest block first.
        p_linked = np.diff(np.cumsum(linked)[ends], prepend=0) / linked.sum()
        p_other = np.diff(np.cumsum(other)[ends], prepend=0) / other.sum()
        return Verification(_crossing(p_linked, p_other), self._cllr(linked, other), _cllr_min(p_linked, p_other))

    def _cllr(self, linked: np.ndarray, other: np.ndarray) -> float:
        cost_linked = np.average(np.logaddexp(0, -self.scores), weights=linked)
        cost_other = np.average(np.logaddexp(0, self.scores), weights=other)
        return float((cost_linked + cost_other) / (2 * np.log(2)))

    @staticmethod
    def _hull(linked: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Index of the last score of each block of PAV."""
        from scipy.optimize import isotonic_regression

        total = linked + other
        seen = np.flatnonzero(total)
        fitted = isotonic_regression(linked[seen] / total[seen], weights=total[seen])
        return seen[fitted.blocks[1:] - 1]


def _crossing(p_linked: np.ndarray, p_other: np.ndarray) -> float:
    """Where misses equal false alarms on the hull, between the two corners around it."""
    misses = np.concatenate([[0.0], np.cumsum(p_linked)])
    alarms = 1 - np.concatenate([[0.0], np.cumsum(p_other)])
    after = int(np.argmax(misses >= alarms))
    gap_before, gap_after = alarms[after - 1] - misses[after - 1], misses[after] - alarms[after]
    share = gap_before / (gap_before + gap_after)
    return float(misses[after - 1] + share * (misses[after] - misses[after - 1]))


def _cllr_min(p_linked: np.ndarray, p_other: np.ndarray) -> float:
    """Cllr where every block has the score log(p_linked / p_other); a block of one kind costs its own kind nothing."""
    both = p_linked + p_other
    cost_linked = -np.sum(p_linked * np.log2(np.divide(p_linked, both, out=np.ones_like(both), where=p_linked > 0)))
    cost_other = -np.sum(p_other * np.log2(np.divide(p_other, both, out=np.ones_like(both), where=p_other > 0)))
    return float((cost_linked + cost_other) / 2)
