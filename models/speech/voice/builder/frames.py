"""Choose whose frames `frame_knn` speaks with: of each gender the speakers with the longest utterances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.speech.voice.builder.examples import SpeechExample
from sottovoce.models.speech.voice.frame_pool import FramePool, in_own_units
from sottovoce.models.speech.voice.pool import Pool

SPEAKERS = 24  # of each gender
FRAMES = 1200


def frames_of(voices: Sequence[Sequence[SpeechExample]], pool: Pool) -> FramePool | None:
    """None where nobody has an utterance of 12 s. Rows of `voices` are those of the pool."""
    longest = [max((example.features for example in own), key=len) for own in voices]
    enough = [row for row, features in enumerate(longest) if len(features) >= FRAMES]
    chosen = [
        row
        for gender in ("f", "m")
        for row in sorted((r for r in enough if pool.gender[r] == gender), key=lambda r: -len(longest[r]))[:SPEAKERS]
    ]
    if not chosen:
        return None
    frames, means, spreads = zip(*(in_own_units(longest[row][:FRAMES]) for row in chosen), strict=True)
    return FramePool(
        gender=pool.gender[chosen],
        frames=np.stack(frames),
        mean=np.stack(means),
        spread=np.stack(spreads),
        log_f0_quantiles=pool.log_f0_quantiles[chosen],
    )
