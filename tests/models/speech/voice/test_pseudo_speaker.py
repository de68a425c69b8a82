"""Targets are keyed draws from the right part of the pool, and say nothing of the source unless asked to."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.metrics.verification import eer
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.speech.speakers import plda
from sottovoce.models.speech.voice.clusters import affinity_clusters
from sottovoce.models.speech.voice.opus_features import PITCH, VOICING, pitch_of
from sottovoce.models.speech.voice.pitch import target_quantiles
from sottovoce.models.speech.voice.pool import F0_QUANTILES
from sottovoce.models.speech.voice.pseudo_speaker import (
    EmbeddingMissing,
    GenderUnknown,
    PseudoSpeakerOptions,
    PseudoSpeakers,
    draw_key,
)

SECRET = Secret(b"sixteen bytes or more")


@dataclass(frozen=True)
class Pool:
    gender: np.ndarray
    embedding: np.ndarray
    plda: plda.Plda | None


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Two groups a gender: 30 speakers close together and 6 apart."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1, (4, 16))
    sizes, genders = (30, 6, 30, 6), ("f", "f", "m", "m")
    found = np.concatenate([c + rng.normal(0, 0.2, (n, 16)) for c, n in zip(centres, sizes, strict=True)])
    names = np.repeat([f"s{i}" for i in range(len(found))], 3)
    trained = plda.fit(np.repeat(found, 3, axis=0) + rng.normal(0, 0.05, (3 * len(found), 16)), names, dimensions=10)
    return Pool(np.repeat(genders, sizes), found, trained)


def options(**values: object) -> PseudoSpeakerOptions:
    return PseudoSpeakerOptions(**values)


@pytest.mark.parametrize("distance", ["plda", "cosine"])
@pytest.mark.parametrize("proximity", ["random", "near", "far", "dense", "sparse"])
@pytest.mark.parametrize("gender", ["random", "same", "opposite"])
def test_weights_sum_to_one_within_one_gender(pool: Pool, distance: str, proximity: str, gender: str) -> None:
    speakers = PseudoSpeakers(options(distance=distance, proximity=proximity, gender=gender, ranked=10), pool)
    for number in range(8):
        weights = speakers.draw(SECRET, ("utterance", str(number)), pool.embedding[0], "f")
        used = np.flatnonzero(weights)
        assert weights.sum() == pytest.approx(1) and (weights >= 0).all() and 1 <= len(used) <= 4
        genders = {pool.gender[index] for index in used}
        assert len(genders) == 1
        if gender != "random":
            assert genders == ({"f"} if gender == "same" else {"m"})


def test_dense_draws_from_large_groups_and_sparse_from_small_ones(pool: Pool) -> None:
    sizes = np.zeros(len(pool.gender), int)
    for members in (np.flatnonzero(pool.gender == gender) for gender in ("f", "m")):
        voices = plda.unit(pool.embedding[members])
        groups = affinity_clusters(voices @ voices.T)
        sizes[members] = [(groups == group).sum() for group in groups]

    def mean_size(proximity: str) -> float:
        speakers = PseudoSpeakers(options(proximity=proximity, distance="cosine"), pool)
        drawn = [np.flatnonzero(speakers.draw(SECRET, (str(n),))) for n in range(200)]
        return float(np.mean([sizes[index] for index in itertools.chain(*drawn)]))

    assert mean_size("dense") > mean_size("sparse")


def test_near_is_nearer_than_far(pool: Pool) -> None:
    source = pool.embedding[40]

    def likeness(proximity: str) -> float:
        speakers = PseudoSpeakers(options(proximity=proximity, gender="same", ranked=8), pool)
        mixes = [speakers.draw(SECRET, (str(n),), source, "m") @ pool.embedding for n in range(40)]
        return float(np.mean(plda.unit(np.array(mixes)) @ plda.unit(source)))

    assert likeness("near") > likeness("far") + 0.3


@pytest.mark.parametrize("proximity", ["random", "dense", "sparse"])
def test_nothing_of_the_source_moves_the_target(pool: Pool, proximity: str) -> None:
    speakers = PseudoSpeakers(options(proximity=proximity), pool)
    blind = speakers.draw(SECRET, ("a",))
    assert np.array_equal(blind, speakers.draw(SECRET, ("a",), pool.embedding[3], "m"))


def test_a_draw_repeats_with_its_key_and_changes_with_secret_or_key(pool: Pool) -> None:
    speakers = PseudoSpeakers(options(), pool)
    first = speakers.draw(SECRET, ("utterance", "d", "u"))
    assert np.array_equal(first, speakers.draw(SECRET, ("utterance", "d", "u")))
    assert not np.array_equal(first, speakers.draw(SECRET, ("utterance", "d", "v")))
    assert not np.array_equal(first, speakers.draw(Secret(b"another key of a run"), ("utterance", "d", "u")))


def test_utterances_of_one_speaker_share_a_target_only_when_asked_to() -> None:
    one, two = (Utterance(name, "d", 0, "", Source("f", 1), speaker_id="s") for name in ("a", "b"))
    assert draw_key(one, "speaker") == draw_key(two, "speaker")
    assert draw_key(one, "utterance") != draw_key(two, "utterance")
    nobody = Utterance("a", "d", 0, "", Source("f", 1))
    assert draw_key(nobody, "speaker") == draw_key(nobody, "utterance")


def targets(speakers: PseudoSpeakers, pool: Pool, secret: Secret, keys: Sequence[tuple[str, ...]]) -> np.ndarray:
    return plda.unit(np.array([speakers.draw(secret, key) for key in keys]) @ pool.embedding)


@pytest.mark.parametrize("proximity", ["random", "dense", "sparse"])
def test_targets_of_two_runs_link_no_better_than_those_of_two_speakers(pool: Pool, proximity: str) -> None:
    """One target a speaker, two secrets. 300 mated pairs: an EER at chance has a standard error of 2 points."""
    speakers = PseudoSpeakers(options(proximity=proximity, assign="speaker"), pool)
    keys = [("speaker", f"s{number}") for number in range(300)]
    one, other = (targets(speakers, pool, secret, keys) for secret in (SECRET, Secret(b"another key of a run")))
    likeness = one @ other.T
    own = np.eye(len(keys), dtype=bool)
    assert eer(likeness[own], likeness[~own]) > 0.43


def test_utterances_of_one_speaker_share_no_target_and_are_linked_by_none(pool: Pool) -> None:
    """Per utterance, 60 speakers with 5 utterances each: no target comes twice, and likeness tells nothing."""
    speakers = PseudoSpeakers(options(), pool)
    keys = [("utterance", f"dialogue {speaker}", str(number)) for speaker in range(60) for number in range(5)]
    weights = np.array([speakers.draw(SECRET, key) for key in keys])
    assert len(np.unique(weights, axis=0)) == len(keys)
    mixed = plda.unit(weights @ pool.embedding)
    likeness, owner = mixed @ mixed.T, np.repeat(np.arange(60), 5)
    same, pair = owner[:, None] == owner[None], np.triu(np.ones((300, 300), bool), 1)
    assert eer(likeness[same & pair], likeness[~same & pair]) > 0.43


def test_what_the_draw_needs_and_does_not_have_is_refused(pool: Pool) -> None:
    with pytest.raises(GenderUnknown):
        PseudoSpeakers(options(gender="same"), pool).draw(SECRET, ("a",))
    with pytest.raises(EmbeddingMissing):
        PseudoSpeakers(options(proximity="far"), pool).draw(SECRET, ("a",))
    with pytest.raises(SettingsError, match="no PLDA"):
        PseudoSpeakers(options(), Pool(pool.gender, pool.embedding, None))
    with pytest.raises(SettingsError, match="ranked"):
        options(ranked=2, drawn=4)


def test_affinity_propagation_finds_groups_that_lie_apart() -> None:
    rng = np.random.default_rng(3)
    points = np.concatenate(
        [centre + rng.normal(0, 0.1, (n, 2)) for centre, n in (((0, 0), 12), ((5, 5), 7), ((0, 9), 4))]
    )
    groups = affinity_clusters(-np.square(points[:, None] - points[None]).sum(axis=-1))
    truth = np.repeat([0, 1, 2], (12, 7, 4))
    for group in np.unique(groups):
        assert len(np.unique(truth[groups == group])) == 1
    assert 3 <= len(np.unique(groups)) <= 6


@given(st.integers(0, 2**32 - 1), st.floats(4.2, 5.6), st.floats(0.05, 0.4))
def test_the_pitch_is_the_targets_a_bell_curve_or_the_sources_own(seed: int, middle: float, width: float) -> None:
    """Quantiles of a few hundred voiced frames: within two thirds of the spread."""
    features = np.zeros((600, 20))
    features[:, PITCH] = pitch_of(np.random.default_rng(seed).normal(4.8, 0.15, 600))
    features[:, VOICING] = np.where(np.arange(600) % 2, 0.4, -0.4)
    features[::2, PITCH] = 9.0  # what is not voiced has no pitch
    target = middle + width * np.linspace(-1, 1, len(F0_QUANTILES)) ** 3
    assert target_quantiles("percentile", target, features) is target
    bell = target_quantiles("gaussian", target, features)
    assert bell.mean() == pytest.approx(target.mean()) and bell.std() == pytest.approx(target.std())
    own = target_quantiles("none", target, features)
    assert own == pytest.approx(4.8 + 0.15 * ndtri(F0_QUANTILES), abs=0.1)
    assert (np.diff(bell) > 0).all() and (np.diff(own) >= 0).all()


def test_too_few_voiced_frames_take_the_targets_pitch() -> None:
    target = np.linspace(4, 5, len(F0_QUANTILES))
    assert target_quantiles("none", target, np.full((50, 20), -0.5)) is target
