"""Slices to their neighbours: which slice of the release follows this one?

The attack of `sottovoce evaluate slices` (`attacks/slice_linkage.py`: words, sound, and both together) on the slices that
were released. For each slice the attacker is shown its true successor among five strangers and names one; the better of
its kinds of evidence counts. The control names any of the six.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.attacks import slice_linkage
from sottovoce.models.evaluation.attacks.slice_linkage import Pair, PairScores, TracedSlice
from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.trials import NotApplicable, NotMeasurable, Outcome, Trials
from sottovoce.models.evaluation.metrics.linkability import linkability

STRANGERS = 5
MIN_PAIRS = 20


class NeighbouringSlices:
    """Linkage of slices: the one that followed is picked out among six, by words, by sound, or by both."""

    criterion: ClassVar[Criterion] = "linkability"
    says = "has the release and texts of the domain; tells which slice of speech followed another in its utterance"
    max_risk: ClassVar[float] = 0.5

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        if isinstance(material.slices, NotMeasurable | NotApplicable):
            return {"stt_am": material.slices}
        mated, other = slice_linkage.pairs_of(material.slices, np.random.default_rng(0), STRANGERS)
        utterances = {material.slices[first].utterance for first, _ in mated}
        if not mated:
            return {"stt_am": NotApplicable("no utterance was cut into several slices")}
        if len(utterances) < MIN_PAIRS or not other:
            needs = f"at least {MIN_PAIRS} utterances of several slices; there are {len(utterances)}"
            return {"stt_am": NotMeasurable(needs)}
        tried = [_trials(material.slices, mated, other, scores) for scores in _evidence(material.slices, mated, other)]
        return {"stt_am": max(tried, key=lambda trials: float(trials.hits.mean()))}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=True)


def _evidence(pieces: Sequence[TracedSlice], mated: list[Pair], other: list[Pair]) -> list[PairScores]:
    scores = [slice_linkage.text_scores(pieces, mated, other)]
    if all(piece.speech is not None for piece in pieces):
        scores.append(slice_linkage.speech_scores(pieces, mated, other))
        scores.append(slice_linkage.combined(pieces, mated, other, *scores))
    return scores


def _trials(pieces: Sequence[TracedSlice], mated: list[Pair], other: list[Pair], scores: PairScores) -> Trials:
    strangers: dict[int, list[float]] = {}
    for (first, _), score in zip(other, scores.non_mated, strict=True):
        strangers.setdefault(first, []).append(float(score))
    shown = [(first, float(score)) for (first, _), score in zip(mated, scores.mated, strict=True) if first in strangers]
    hits = [_named(own, np.array(strangers[first])) for first, own in shown]
    control = [1 / (1 + len(strangers[first])) for first, _ in shown]
    people = [str(pieces[first].utterance) for first, _ in shown]
    return Trials(np.array(hits), np.array(control), people, {"D_sys": linkability(scores.mated, scores.non_mated)})


def _named(own: float, strangers: np.ndarray) -> float:
    """1 where it scores above all of them; shared where it is level with some."""
    return 0.0 if (strangers > own).any() else 1 / (1 + np.count_nonzero(strangers == own))


def _invented(rng: np.random.Generator, told: bool) -> Material:
    """Utterances of two slices: what the second begins with follows from how the first ends, or from nothing."""
    pieces = []
    for utterance in range(120):
        themes = np.full(4, rng.integers(24)) if told else rng.integers(0, 24, 4)
        for place, (end, begin) in enumerate((themes[:2], themes[2:])):
            pieces.append(TracedSlice(f"begin{begin} next{begin} it is so end{end} tail{end}", utterance, place))
    return Material((), slices=pieces)
