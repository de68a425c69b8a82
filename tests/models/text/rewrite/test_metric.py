"""The baseline: its noise has the density that metric differential privacy asks for."""

import math

import numpy as np
from scipy import stats

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.text.rewrite.metric import MetricPrivacy, load

SECRET = Secret(b"a secret of this test")


def test_the_length_of_the_noise_is_gamma_and_its_direction_uniform(monkeypatch):
    """Two words at distance 1 in the plane: each is taken for the other as often as the density says. Flaky: 1 in 10^6."""
    words, vectors = ("a", "b"), np.array([[0.0, 0.0], [1.0, 0.0]])
    monkeypatch.setattr("sottovoce.models.text.rewrite.metric.load", lambda path: (words, vectors, {"a": 0, "b": 1}))
    draw, tries = np.random.default_rng(0), 4000
    moved = sum(MetricPrivacy(epsilon=2.0).moved("a", draw) == "b" for _ in range(tries))
    angles = np.linspace(0, 2 * math.pi, 4001)
    reach = np.where(np.cos(angles) > 1e-9, 0.5 / np.maximum(np.cos(angles), 1e-9), np.inf)
    expected = float(np.mean(stats.gamma.sf(reach, 2, scale=1 / 2.0)))
    assert stats.binomtest(moved, tries, expected).pvalue > 1e-6


def test_slots_move_along_and_unknown_words_go():
    one = Utterance("u", "d", 0, "wake xqzzv at nine", Source("f", 1), intent="alarm", slots=(Slot(14, 18, "when"),))
    made = MetricPrivacy(epsilon=1e4).rewrite(one, SECRET)
    words = made.text.split()
    assert len(words) == 4 and "xqzzv" not in words and words[0] == "wake"
    (slot,) = made.slots
    assert made.text[slot.begin : slot.end] == words[3] and made.intent == "alarm"
    assert made == MetricPrivacy(epsilon=1e4).rewrite(one, SECRET)


def test_two_outputs_have_no_noise_in_common(monkeypatch):
    drawn = []
    monkeypatch.setattr(MetricPrivacy, "moved", lambda self, word, draw: drawn.append(draw.normal()) or word)
    for epsilon in (1.0, 2.0, 1.0):
        MetricPrivacy(epsilon=epsilon).rewrite(Utterance("u", "d", 0, "wake", Source("f", 1)), SECRET)
    assert drawn[0] == drawn[2] != drawn[1]


def test_the_table_that_ships_has_a_mean_distance_of_one():
    _, vectors, _ = load(None)
    pairs = np.random.default_rng(1).integers(len(vectors), size=(5000, 2))
    assert abs(np.linalg.norm(vectors[pairs[:, 0]] - vectors[pairs[:, 1]], axis=1).mean() - 1) < 0.05


def test_the_ledger_says_what_it_is_not():
    entry = MetricPrivacy().ledger()
    assert "no epsilon of the usual kind" in entry.says and all(map(math.isinf, entry.sound.values()))
