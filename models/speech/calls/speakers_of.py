"""Who speaks in each stretch of one mixed channel: stretches whose voices point the same way are one speaker's.

Each stretch is embedded by a speaker encoder; average-linkage clustering on cosine distance gives as many speakers as asked for.
A stretch that is too short, or whose two halves are two people's, is nobody's: None.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.speakers import SpeakerEncoder

LEAST_S, LEAST_HALF_S = 1.0, 1.5  # shorter speech tells little of who speaks


def speakers_of(encoder: SpeakerEncoder, stretches: Sequence[Speech], speakers: int) -> list[int | None]:
    """The speaker of each stretch, numbered as they first speak. None for all where too few stretches are long enough."""
    from sklearn.cluster import AgglomerativeClustering

    long = [index for index, speech in enumerate(stretches) if speech.duration_s >= LEAST_S]
    if len(long) < speakers:
        return [None] * len(stretches)
    vectors = _unit(np.stack([encoder.embed(stretches[index]) for index in long]))
    labels = AgglomerativeClustering(speakers, metric="cosine", linkage="average").fit_predict(vectors)
    centres = _unit(np.stack([vectors[labels == label].mean(axis=0) for label in range(speakers)]))
    out: list[int | None] = [None] * len(stretches)
    for index, label in zip(long, labels, strict=True):
        speech = stretches[index]
        middle = len(speech.samples) // 2
        if speech.duration_s >= 2 * LEAST_HALF_S:
            halves = [Speech(part, speech.rate_hz) for part in (speech.samples[:middle], speech.samples[middle:])]
            nearest = {int(np.argmax(centres @ _unit(encoder.embed(half)[None])[0])) for half in halves}
            if nearest != {int(label)}:
                continue
        out[index] = int(label)
    return _by_first_word(out)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _by_first_word(labels: list[int | None]) -> list[int | None]:
    """Numbers in the order in which they first speak: what a clustering calls its clusters means nothing."""
    order = list(dict.fromkeys(label for label in labels if label is not None))
    return [None if label is None else order.index(label) for label in labels]
