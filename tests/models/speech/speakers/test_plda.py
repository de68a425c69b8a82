"""PLDA tells one speaker's pairs from two speakers' where speakers differ, and finds the covariances it was drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.speech.speakers import plda


def voices(rng: np.random.Generator, speakers: int, each: int, spread: float) -> tuple[np.ndarray, list[str]]:
    """Embeddings around one point of a sphere: speakers differ in the first 5 of 20 directions only."""
    middle = np.zeros(20)
    middle[-1] = 30.0
    own = np.zeros((speakers, 1, 20))
    own[:, :, :5] = rng.normal(0, spread, (speakers, 1, 5))
    found = middle + own + rng.normal(0, 0.3, (speakers, each, 20))
    return found.reshape(-1, 20), [f"s{index}" for index in range(speakers) for _ in range(each)]


def test_pairs_of_one_speaker_score_above_pairs_of_two() -> None:
    rng = np.random.default_rng(0)
    model = plda.fit(*voices(rng, 100, 8, 1.0), dimensions=5)
    tested, _ = voices(rng, 40, 2, 1.0)
    projected = model.project(tested).reshape(40, 2, -1)
    scores = model.llr(projected[:, 0], projected[:, 1])
    own, other = np.diag(scores), scores[~np.eye(40, dtype=bool)]
    assert np.median(own) > 0 > np.median(other) and (own > np.quantile(other, 0.95)).mean() > 0.9


def test_the_ratio_of_variances_is_found_again() -> None:
    """Between / within is (1 / 0.3)^2 = 11; 400 speakers give it with a deviation of about a tenth."""
    model = plda.fit(*voices(np.random.default_rng(1), 400, 10, 1.0), dimensions=20, shrinkage=0.1)
    assert np.mean(model.between[:5]) == pytest.approx((1 / 0.3) ** 2, rel=0.3)
    assert np.all(model.between[5:] < 1)


def test_more_enrolled_recordings_make_scores_surer() -> None:
    model = plda.fit(*voices(np.random.default_rng(2), 60, 6, 1.0), dimensions=5)
    point = np.full((1, 5), 3.0)
    assert model.llr(point, point, enrolled_count=5)[0, 0] > model.llr(point, point)[0, 0] > 0


def test_one_recording_each_is_refused() -> None:
    with pytest.raises(SettingsError, match="two recordings each"):
        plda.fit(np.eye(4), ["a", "b", "c", "d"])
