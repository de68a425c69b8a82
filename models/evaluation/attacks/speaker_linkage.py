"""Who is it? Attackers of four strengths try to link anonymised speech to the speaker's other recordings.

Srivastava et al., "Evaluating voice conversion-based privacy protection against informed attackers", ICASSP 2020, and
Tomashenko et al., "The VoicePrivacy 2024 challenge evaluation plan", section 4.1. All test utterances are anonymised.

* ignorant: compares with original recordings, not knowing of the anonymisation.
* lazy: anonymises its enrolment recordings with the same method, with draws of its own.
* semi-informed: also trains LDA and PLDA on anonymised speech of other speakers.
* informed: also trains on the anonymised enrolment recordings of the very speakers it looks for.

Trained attackers are trained in folds over speakers: those of a fold are scored by a model that has not met them. Every
attacker also tries with its own set's mean removed from each side, which undoes what a method adds to all voices alike,
and with several test utterances of one speaker averaged. The lowest EER over all of them is the headline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.attacks import TABLE
from sottovoce.models.settings import require, resolve
from sottovoce.models.speech.speakers import plda
from sottovoce.models.speech.speakers.plda import Plda, unit

MAX_DIMENSIONS = 40
MIN_TRAINING_SPEAKERS = 5


@dataclass(frozen=True, repr=False)
class Recordings:
    """One row for each recording, in any order: who speaks, and the embeddings [n, d] before and after.

    `enrolment` [n] marks what the attacker anonymised itself, with a secret of its own. That matters where a secret gives
    all recordings of a speaker one target. Without it, each speaker's enrolment is drawn among their recordings.
    `pool` [n] says which of several pools spoke, where each speaker needs one that has not heard them. In the field there is
    one pool; to tell two speakers apart by their pools would be no attack on them. So only speakers of one pool are
    compared, and the folds of the attackers are the pools.
    """

    speaker: np.ndarray
    original: np.ndarray
    anonymised: np.ndarray
    enrolment: np.ndarray | None = None
    pool: np.ndarray | None = None

    def folds(self, design: Design) -> dict[str, int]:
        """The fold of each speaker."""
        names = np.unique(self.speaker)
        if self.pool is not None:
            return dict(zip(self.speaker.tolist(), self.pool.tolist(), strict=True))
        order = np.random.default_rng(design.seed).permutation(np.arange(len(names)) % design.folds)
        return dict(zip(names.tolist(), order.tolist(), strict=True))


@dataclass(frozen=True)
class Design:
    """`enrolled` recordings of each speaker are known to the attacker, at most `tested` others are tried."""

    enrolled: int = 3
    tested: int = 10
    together: tuple[int, ...] = (1, 5)
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        require(
            (self.enrolled >= 1 and self.tested >= 1, "enrolled, tested: must be at least 1"),
            (all(count >= 1 for count in self.together), "together: must be at least 1"),
            (self.folds >= 2, "folds: must be at least 2"),
        )


@dataclass(frozen=True, repr=False)
class Attack:
    """Scores [enrolled speakers, tested speakers, trials] of one attacker; NaN where two were never compared."""

    attacker: str  # its row of the table
    score: str
    together: int
    scores: np.ndarray


def attacks(recordings: Recordings, design: Design = Design()) -> Iterator[Attack]:
    """Every attacker with every score and every number of test utterances taken together."""
    split = Split.of(recordings, design)
    for count in design.together:
        if count > split.tested.shape[1]:
            continue
        for attacker, row in TABLE.items():
            for score, scores in resolve(row)().scores(recordings, split, count):
                yield Attack(attacker, score, count, scores)


@dataclass(frozen=True, repr=False)
class Split:
    """Rows of enrolment [s, e] and of test [s, t], -1 where a speaker has fewer; `fold` [s] of each speaker."""

    speakers: np.ndarray
    enrolled: np.ndarray
    tested: np.ndarray
    fold: np.ndarray

    @classmethod
    def of(cls, recordings: Recordings, design: Design) -> Split:
        rng = np.random.default_rng(design.seed)
        names = np.unique(recordings.speaker)
        known: dict[str, np.ndarray] = {}
        tried: dict[str, np.ndarray] = {}
        for name in names:
            own = rng.permutation(np.flatnonzero(recordings.speaker == name))
            marked = np.arange(len(own)) < design.enrolled
            if recordings.enrolment is not None:
                marked = recordings.enrolment[own]
            if marked.any() and not marked.all():
                # Where a recording of the enrolment was refused, the others stand in for it: nobody is left out.
                known[name], tried[name] = np.resize(own[marked], design.enrolled), own[~marked][: design.tested]
        require((len(known) >= 2, f"speakers: two with more than {design.enrolled} recordings each are needed"))
        tested = np.full((len(tried), max(map(len, tried.values()))), -1)
        for place, rows in enumerate(tried.values()):
            tested[place, : len(rows)] = rows
        fold_of = recordings.folds(design)
        fold = np.array([fold_of[name] for name in known])
        return cls(np.array(list(known)), np.array(list(known.values())), tested, fold)


class Ignorant:
    """Compares with original recordings."""

    def scores(self, recordings: Recordings, split: Split, count: int) -> Iterator[tuple[str, np.ndarray]]:
        return _compared(recordings.original, recordings, split, count)


class Lazy:
    """Compares with recordings that it anonymised itself."""

    def scores(self, recordings: Recordings, split: Split, count: int) -> Iterator[tuple[str, np.ndarray]]:
        return _compared(recordings.anonymised, recordings, split, count)


def _compared(known: np.ndarray, recordings: Recordings, split: Split, count: int) -> Iterator[tuple[str, np.ndarray]]:
    everybody = np.zeros_like(split.fold)
    together = everybody if recordings.pool is None else split.fold
    cubes = np.full((2, len(together), len(together), split.tested.shape[1] // count), np.nan)
    for group in np.unique(together):
        own = np.flatnonzero(together == group)
        enrolled = unit(known[split.enrolled[own]])
        tested = _grouped(unit(recordings.anonymised), split.tested[own], count)
        cubes[0][np.ix_(own, own)] = _comparable(_cosine(enrolled.mean(axis=1), tested))
        enrolled = unit(enrolled - enrolled.mean(axis=(0, 1)))
        cubes[1][np.ix_(own, own)] = _comparable(_cosine(enrolled.mean(axis=1), tested - _mean(tested)))
    yield from zip(("cosine", "centred"), cubes, strict=True)


class SemiInformed:
    """Also trains LDA and PLDA on anonymised speech of other speakers."""

    def scores(self, recordings: Recordings, split: Split, count: int) -> Iterator[tuple[str, np.ndarray]]:
        shape = (len(split.speakers), len(split.speakers), split.tested.shape[1] // count)
        found: dict[str, np.ndarray] = {}
        for fold in np.unique(split.fold):
            own = np.flatnonzero(split.fold == fold)
            others = ~np.isin(recordings.speaker, split.speakers[own])
            if len(own) < 2 or len(np.unique(recordings.speaker[others])) < MIN_TRAINING_SPEAKERS:
                continue
            rows = self.learns_from(others, split.enrolled[own])
            model = _fit(recordings.anonymised[rows], recordings.speaker[rows])
            for score, values in _fold_scores(model, recordings.anonymised, split, own, count):
                cube = found.setdefault(score, np.full(shape, np.nan))
                cube[np.ix_(own, own)] = _comparable(values)
        yield from found.items()

    def learns_from(self, others: np.ndarray, enrolled: np.ndarray) -> np.ndarray:
        """The rows to train on, of all others' and of the enrolment of those who are looked for."""
        return others


class Informed(SemiInformed):
    """Also trains on the anonymised enrolment recordings of the very speakers it looks for."""

    def learns_from(self, others: np.ndarray, enrolled: np.ndarray) -> np.ndarray:
        with_suspects = others.copy()
        with_suspects[enrolled] = True
        return with_suspects


def _fit(embeddings: np.ndarray, speakers: np.ndarray) -> Plda:
    dimensions = min(MAX_DIMENSIONS, len(np.unique(speakers)) - 1, embeddings.shape[1])
    return plda.fit(embeddings, speakers, dimensions)


def _fold_scores(
    model: Plda, anonymised: np.ndarray, split: Split, own: np.ndarray, count: int
) -> Iterator[tuple[str, np.ndarray]]:
    """LDA and PLDA scores, centred on the training speech and on the speech under attack itself."""
    enrolled = model.project(anonymised[split.enrolled[own]])
    tested = _grouped(model.project(anonymised), split.tested[own], count)
    together = enrolled.shape[1]
    for suffix, known, tried in (
        ("", enrolled, tested),
        (", centred", enrolled - enrolled.mean(axis=(0, 1)), tested - _mean(tested)),
    ):
        means = known.mean(axis=1)
        yield f"LDA{suffix}", _cosine(unit(known).mean(axis=1), tried)
        ratios = model.llr(means, tried.reshape(-1, tried.shape[-1]), together, count)
        yield f"PLDA{suffix}", ratios.reshape(len(own), len(own), -1)


def _grouped(embeddings: np.ndarray, tested: np.ndarray, count: int) -> np.ndarray:
    """Means [s, trials, d] of `count` test rows each; NaN where a row is absent."""
    present = np.where(tested[..., None] >= 0, embeddings[tested], np.nan)
    trials = tested.shape[1] // count
    return present[:, : trials * count].reshape(len(tested), trials, count, -1).mean(axis=2)


def _mean(tested: np.ndarray) -> np.ndarray:
    return np.nanmean(tested, axis=(0, 1))


def _cosine(enrolled: np.ndarray, tested: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(tested, axis=-1, keepdims=True)
    return np.einsum("id,jtd->ijt", unit(enrolled), tested / np.maximum(lengths, 1e-12))


def _comparable(scores: np.ndarray) -> np.ndarray:
    """Scores of different folds on one scale: non-mated ones at mean 0 and deviation 1."""
    non_mated = scores[~np.eye(len(scores), dtype=bool)]
    return (scores - np.nanmean(non_mated)) / max(float(np.nanstd(non_mated)), 1e-9)


def ranks(scores: np.ndarray) -> np.ndarray:
    """For each trial, the place of the right speaker among all enrolled ones it was compared with: 1 is recognised."""
    right = scores[np.arange(len(scores)), np.arange(len(scores))]
    ahead = (scores > right[None]).sum(axis=0) + 0.5 * ((scores == right[None]).sum(axis=0) - 1)
    return (1 + ahead)[~np.isnan(right)]


def fine_tuned_attacks(recordings: Recordings, design: Design) -> Iterator[Attack]:
    """Of recordings whose anonymised side was embedded, fold by fold, by an encoder trained on the other folds."""
    split = Split.of(recordings, design)
    other_fold = split.fold[:, None] != split.fold[None]
    for count in design.together:
        if count > split.tested.shape[1]:
            continue
        for score, scores in Lazy().scores(recordings, split, count):
            scores[other_fold] = np.nan
            yield Attack("semi-informed", f"fine-tuned, {score}", count, scores)


def choose_enrolment(speakers: np.ndarray, design: Design) -> np.ndarray:
    """Marks `design.enrolled` recordings of each speaker, drawn at random, where the speaker has more than that."""
    rng, marked = np.random.default_rng(design.seed), np.zeros(len(speakers), bool)
    for name in np.unique(speakers):
        own = rng.permutation(np.flatnonzero(speakers == name))
        if len(own) > design.enrolled:
            marked[own[: design.enrolled]] = True
    return marked
