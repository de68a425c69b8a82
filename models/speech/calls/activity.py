"""Where somebody speaks: stretches that are loud against the quiet of the same channel. No model, no memory, any length.

The threshold lies between the quiet (the tenth percentile of the levels) and the loud (the ninety-fifth), in decibels; a channel
in which they are close has no speech, or nothing else. A long stretch is cut where it is quietest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.speech.audio import Speech

FRAME_S = 0.01
QUIET, LOUD, BETWEEN = 10, 95, 0.35
WIDEST_DB, LEAST_DB = 45.0, 10.0  # digital silence counts as 45 dB below the loud; under 10 dB nothing stands out
PAUSE_S, LEAST_S, MARGIN_S = 0.5, 0.15, 0.15  # a shorter pause is inside a word or phrase; a shorter sound is a click
SMOOTH_FRAMES = 20
LEAST_SHARE = 1 / 3  # of the longest piece: pieces of nearly nothing tell nothing


@dataclass(frozen=True, slots=True)
class Stretch:
    """From when to when somebody speaks on a channel."""

    begin_s: float
    end_s: float
    channel: int = 0

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return self.end_s - self.begin_s


def frame_levels(speech: Speech) -> np.ndarray:
    """The level of each hundredth of a second, in decibels."""
    length = max(int(speech.rate_hz * FRAME_S), 1)
    whole = speech.samples[: len(speech.samples) // length * length].astype(np.float64)
    return 10 * np.log10(np.mean(np.square(whole.reshape(-1, length)), axis=1) + 1e-12)


def threshold_of(levels: np.ndarray) -> float | None:
    """None: nothing in it stands out."""
    quiet, loud = np.percentile(levels, [QUIET, LOUD])
    quiet = max(quiet, loud - WIDEST_DB)
    return None if loud - quiet < LEAST_DB else float(quiet + BETWEEN * (loud - quiet))


def stretches_of(levels: np.ndarray, channel: int = 0, most_s: float = 15.0) -> list[Stretch]:
    """In order of time, none longer than `most_s`."""
    threshold = threshold_of(levels)
    if threshold is None:
        return []
    runs = _runs(_smooth(levels, 5) > threshold)
    joined: list[list[int]] = []
    for begin, end in runs:
        if joined and (begin - joined[-1][1]) * FRAME_S < PAUSE_S:
            joined[-1][1] = end
        else:
            joined.append([begin, end])
    out = []
    for begin, end in joined:
        if (end - begin) * FRAME_S >= LEAST_S:
            out += [Stretch(a * FRAME_S, b * FRAME_S, channel) for a, b in _cut_long(levels, begin, end, most_s)]
    return [_with_margin(out, index, len(levels) * FRAME_S) for index in range(len(out))]


def _with_margin(all_: Sequence[Stretch], index: int, total_s: float) -> Stretch:
    """Half-way to the neighbours at most."""
    own = all_[index]
    before = all_[index - 1].end_s if index else 0.0
    after = all_[index + 1].begin_s if index + 1 < len(all_) else total_s
    begin = own.begin_s - min(MARGIN_S, (own.begin_s - before) / (2 if index else 1))
    end = own.end_s + min(MARGIN_S, (after - own.end_s) / (2 if index + 1 < len(all_) else 1))
    return Stretch(max(begin, 0.0), end, own.channel)


def _cut_long(levels: np.ndarray, begin: int, end: int, most_s: float) -> list[tuple[int, int]]:
    quiet = _smooth(levels, SMOOTH_FRAMES)
    most = int(most_s / FRAME_S)
    least = max(int(most * LEAST_SHARE), 1)
    cuts = [begin]
    while end - cuts[-1] > most:
        first, last = cuts[-1] + least, min(cuts[-1] + most, end - least)
        cuts.append(first + int(np.argmin(quiet[first : max(last, first + 1)])))
    return list(zip(cuts, [*cuts[1:], end], strict=True))


def _runs(on: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _smooth(levels: np.ndarray, frames: int) -> np.ndarray:
    return np.convolve(np.pad(levels, frames, mode="edge"), np.ones(frames) / frames, mode="same")[frames:-frames]
