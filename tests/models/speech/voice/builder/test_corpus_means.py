"""A pool is moved to a corpus by means that no speaker moves further than the noise covers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.ledger.gaussian import gaussian_sigma
from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.voice import corpus_means, phone_network, pool
from sottovoce.models.speech.voice.builder.corpus_means import GRAINS, PHONE, Grain, cut, means_of, move, vector_of
from sottovoce.models.speech.voice.builder.examples import Heard, example_of
from sottovoce.models.speech.voice.corpus_means import COLUMNS, FILE, LENGTH, LOUDNESS, POINTS, SPECTRUM, CorpusMeans
from sottovoce.models.speech.voice.phone_track import NUMBER, frame_inputs
from sottovoce.models.speech.voice.pool import PHONES
from sottovoce.models.speech.voice.prosody import network_inputs

LABELS = ("HH", "AH", "L", "OW")
NETWORK, MIDDLE = phone_network.load(), pool.load().voice.mean(axis=0).astype(np.float32)


def heard(speaker: str, seed: int, lengths: tuple[int, ...] = (12, 15, 10, 25)) -> Heard:
    rng = np.random.default_rng(seed)
    features = rng.normal(0, 1, (140, 20)).astype(np.float32)
    ends = 0.3 + np.cumsum(lengths) / 100
    phones = tuple(Phone(one, end - n / 100, end) for one, n, end in zip(LABELS, lengths, ends, strict=True))
    return Heard(f"{speaker}-{seed}", speaker, "", features, (Word(0, 5, 0.3, ends[-1], 1.0, phones),))


CORPUS = [heard(name, seed) for seed, name in enumerate("abcde")]


def table(vector: np.ndarray) -> np.ndarray:
    return vector[:-1].reshape(len(PHONES), COLUMNS)


def test_the_moved_network_expects_what_the_corpus_says(tmp_path: Path) -> None:
    """One speaker, no noise: whoever is moved there departs no longer, in lengths, loudness and spectrum."""
    assert move(pool.WEIGHTS, CORPUS[:1], tmp_path, np.inf, 1e-5, np.random.default_rng(0)) == 1
    example = example_of(CORPUS[0], 0)
    moved = corpus_means.network_of(tmp_path)
    before, after = (table(vector_of([example], network, MIDDLE)) for network in (NETWORK, moved))
    said = [NUMBER[label] for label in LABELS]
    left = 1 - PHONE.longest / np.linalg.norm(
        vector_of([example], NETWORK, MIDDLE)
    )  # of noise instead of speech much is cut
    for column in (LENGTH, LOUDNESS):
        np.testing.assert_allclose(after[said, column], left * before[said, column], atol=0.02)
    assert np.abs(after[said, SPECTRUM]).mean() < (left + 0.2) * np.abs(before[said, SPECTRUM]).mean()
    track, voices = example.track, np.tile(MIDDLE, (example.track.frames, 1))
    inputs = np.concatenate([frame_inputs(track), network_inputs(example.prosody)], axis=1)
    other = np.abs(moved.spectrum(inputs, voices) - NETWORK.spectrum(inputs, voices)).max(axis=1) > 0
    np.testing.assert_array_equal(other, track.speech)
    assert moved.silence_loudness != NETWORK.silence_loudness


def test_no_speaker_moves_the_sum_further_than_the_noise_is_made_for() -> None:
    rng = np.random.default_rng(1)
    for scale in (0.01, 0.3, 1.0, 1e6):
        assert np.linalg.norm(cut(scale * rng.standard_normal(len(PHONES) * COLUMNS + 1))) <= PHONE.longest * (1 + 1e-9)
    vectors = [vector_of([example_of(one, 0)], NETWORK, MIDDLE) for one in CORPUS]
    vectors[0] = 1e9 * vectors[0]  # somebody who departs beyond all measure
    sums = [np.sum([cut(v) for v in vectors], axis=0) - np.sum([cut(v) for v in vectors[1:]], axis=0)]
    np.testing.assert_allclose(np.linalg.norm(sums), PHONE.longest)


def test_noise_has_the_deviation_of_the_guarantee_and_small_corpora_are_not_moved() -> None:
    sigma = gaussian_sigma(1.0, 1e-5, PHONE.longest)
    vectors = [vector_of([example_of(one, 0)], NETWORK, MIDDLE) for one in CORPUS]
    exact = means_of(vectors, 0.0, np.random.default_rng(1))
    one, other = (means_of(vectors, sigma, np.random.default_rng(seed)) for seed in (1, 2))
    assert not np.array_equal(one, other)
    many = [means_of(vectors * 400, sigma, np.random.default_rng(seed)) for seed in range(3)]
    np.testing.assert_allclose(np.mean(many, axis=0), exact, atol=0.2)
    quiet = [
        number for number in range(1, len(PHONES)) if PHONES[number] not in LABELS
    ]  # nobody said them: noise alone
    unshrunk = [np.random.default_rng(seed).standard_normal(len(vectors[0])) * sigma for seed in range(3)]
    wanted = np.std([table(row)[quiet] for row in unshrunk]) / (400 * len(CORPUS))
    assert 0 < np.abs(np.array(many)[:, quiet]).max() < 5 * wanted


@pytest.mark.parametrize(("epsilon", "told"), [(np.inf, 1.0), (0.5, np.exp(0.5) / (1 + np.exp(0.5)))])
def test_who_knows_everybody_else_cannot_tell_whether_somebody_was_there(epsilon: float, told: float) -> None:
    """Without noise, the weakened build, always; with it no better than epsilon allows (half of the corpora have them)."""
    vectors = [vector_of([example_of(one, 0)], NETWORK, MIDDLE) for one in CORPUS]
    vectors[0] = 1e6 * vectors[0]
    sigma = gaussian_sigma(epsilon, 1e-5, PHONE.longest) if np.isfinite(epsilon) else 0.0
    draw, tries = np.random.default_rng(0), 300
    away = vectors[1:]
    there = [*away, vectors[0]]
    line = means_of(there, 0.0, draw) - means_of(away, 0.0, draw)
    scores = [[float((means_of(corpus, sigma, draw) * line).sum()) for _ in range(tries)] for corpus in (there, away)]
    middle = np.mean([np.median(scores[0]), np.median(scores[1])])
    right = (np.mean(np.array(scores[0]) > middle) + np.mean(np.array(scores[1]) <= middle)) / 2
    assert right == 1.0 if epsilon == np.inf else right < told + 0.05


def test_by_class_phones_of_a_kind_move_alike_and_noise_is_a_small_part_of_what_it_is_by_phone() -> None:
    grain = GRAINS["class"]
    vectors = [vector_of([example_of(one, 0)], NETWORK, MIDDLE, grain) for one in CORPUS]
    moved = means_of(vectors, 0.0, np.random.default_rng(0), grain)
    assert moved.shape == (len(PHONES), COLUMNS)
    one, other, far = (moved[NUMBER[label]] for label in ("T", "K", "AA"))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, far)
    spectrum = moved[:, SPECTRUM].reshape(len(PHONES), POINTS, -1)
    np.testing.assert_array_equal(spectrum[:, 0], spectrum[:, -1])
    said, own = vectors[0][:-1].reshape(grain.shape), cut(vectors[0], grain)
    np.testing.assert_allclose(grain.coarse(grain.fine(said)), said[grain.group])
    assert np.linalg.norm(own) <= grain.longest * (1 + 1e-9)

    def noise(which: Grain) -> float:  # of what is released, for the same guarantee
        return gaussian_sigma(8.0, 1e-5, which.longest) * float(np.sqrt(np.prod(which.shape)))

    assert noise(grain) < noise(PHONE) / 10


def test_what_a_move_costs_is_kept_with_it(tmp_path: Path) -> None:
    move(pool.WEIGHTS, CORPUS, tmp_path, 8.0, 1e-6, np.random.default_rng(0))
    made = corpus_means.load(tmp_path)
    assert made is not None and (made.epsilon, made.delta) == (8.0, 1e-6)
    assert {file.name for file in pool.WEIGHTS.glob("*.npz")} | {FILE} == {file.name for file in tmp_path.iterdir()}
    assert corpus_means.load() is None, "the pool that ships is moved to nobody"
    with pytest.raises(CorpusError, match="damaged"):
        CorpusMeans(np.zeros((3, POINTS)), 1.0, 0.0)
