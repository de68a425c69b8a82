"""Means and shares with their intervals."""

from __future__ import annotations

import pytest

from sottovoce.models.evaluation.metrics.estimate import student


def test_few_values_have_students_interval():
    found = student([0.0, 1.0] * 8)  # t of 15 degrees of freedom is 2.1314; the deviation is sqrt(16 / 4 / 15)
    assert found.value == 0.5
    assert found.high - found.value == pytest.approx(2.13145 * (4 / 15) ** 0.5 / 4, rel=1e-5)
    assert found.value - found.low == pytest.approx(found.high - found.value)
