"""Error rates over speakers: the interval is as wide as speakers differ, and a ratio is taken speaker by speaker."""

from __future__ import annotations

import pytest

from sottovoce.models.evaluation.metrics.speaker_rates import pooled, rate, ratio
from sottovoce.models.evaluation.metrics.word_errors import WordErrors

ALIKE = {f"s{n}": WordErrors(10, 100) for n in range(20)}
UNLIKE = {f"s{n}": WordErrors(2 * n, 100) for n in range(20)}


def test_speakers_who_differ_widen_the_interval() -> None:
    same, other = rate(ALIKE), rate(UNLIKE)
    assert (same.value, same.low, same.high) == pytest.approx((0.1, 0.1, 0.1))
    assert other.value == pytest.approx(0.19) and other.low < 0.16 and other.high > 0.22


def test_a_ratio_is_paired_so_that_hard_speakers_cancel() -> None:
    twice = {name: WordErrors(2 * found.errors, found.words) for name, found in UNLIKE.items()}
    found = ratio(twice, UNLIKE)
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))


def test_trainings_add_up() -> None:
    assert pooled([{"a": WordErrors(1, 10)}, {"a": WordErrors(3, 10), "b": WordErrors(0, 5)}]) == {
        "a": WordErrors(4, 20),
        "b": WordErrors(0, 5),
    }
