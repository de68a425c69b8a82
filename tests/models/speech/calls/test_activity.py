"""Speech stands out from the quiet of its channel, whatever that is; long stretches are cut where it is quietest."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.calls.activity import frame_levels, stretches_of

RATE_HZ = 16_000


def sound(*parts: tuple[float, float], quiet: float) -> Speech:
    """(seconds, level) one after the other, over a constant quiet."""
    rng = np.random.default_rng(0)
    loud = np.concatenate([np.full(int(seconds * RATE_HZ), level) for seconds, level in parts])
    return Speech((rng.normal(0, 1, len(loud)) * np.maximum(loud, quiet)).astype(np.float32), RATE_HZ)


@pytest.mark.parametrize("quiet", [0.0, 1e-4, 5e-3])
def test_what_stands_out_is_found_with_a_margin(quiet):
    levels = frame_levels(sound((1, 0), (2, 0.1), (1, 0), (1, 0.1), (1, 0), quiet=quiet))
    first, second = stretches_of(levels)
    assert (first.begin_s, first.end_s) == (pytest.approx(0.85, abs=0.05), pytest.approx(3.15, abs=0.05))
    assert (second.begin_s, second.end_s) == (pytest.approx(3.85, abs=0.05), pytest.approx(5.15, abs=0.05))


def test_a_short_pause_joins_and_a_click_is_nothing():
    levels = frame_levels(sound((1, 0), (1, 0.1), (0.3, 0), (1, 0.1), (2, 0), (0.05, 0.1), (1, 0), quiet=1e-3))
    assert len(stretches_of(levels)) == 1


@pytest.mark.parametrize("level", [0.0, 0.1])
def test_where_nothing_stands_out_there_is_no_speech(level):
    assert stretches_of(frame_levels(sound((5, level), quiet=level))) == []


def test_a_long_stretch_is_cut_at_its_quietest_moment_and_nothing_is_lost():
    levels = frame_levels(sound((1, 0), (8, 0.1), (0.3, 0), (9, 0.1), (1, 0), quiet=1e-3))
    pieces = stretches_of(levels, most_s=12.0)
    assert len(pieces) == 2 and all(piece.duration_s <= 12.3 for piece in pieces)
    assert pieces[0].end_s == pieces[1].begin_s == pytest.approx(9.15, abs=0.15)
