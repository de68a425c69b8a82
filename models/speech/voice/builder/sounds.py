"""Sounds of public speakers for `public_sounds.py`: a few hundred of each phone, drawn among everybody's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.speech.voice.builder.examples import SpeechExample
from sottovoce.models.speech.voice.phone_network import PhoneNetwork
from sottovoce.models.speech.voice.phone_track import SILENCE
from sottovoce.models.speech.voice.public_sounds import (
    PHONE_POINTS,
    POINTS,
    STEP,
    PublicSounds,
    resampled,
    spectral_departures,
)

OF_EACH = 400
SHORTEST = 3  # frames


def sounds_of(
    examples: Sequence[SpeechExample], network: PhoneNetwork, middle: np.ndarray, seed: int = 0
) -> PublicSounds:
    """Of the words that were surely said. Without `heard` where some of what was heard is older than that."""
    found: dict[int, list[tuple[np.ndarray, np.ndarray | None]]] = {}
    for example in examples:
        track = example.track
        departures = spectral_departures(network, middle, example.features, example.prosody, track)
        usable = example.trusted & (track.phone != SILENCE) & (track.length >= SHORTEST)
        for at in np.flatnonzero(usable):
            own = slice(track.begin[at], track.begin[at] + track.length[at])
            heard = None if example.phones is None else resampled(example.phones[own], PHONE_POINTS)
            found.setdefault(int(track.phone[at]), []).append((resampled(departures[own], POINTS), heard))
    draw, phones, shapes, heards = np.random.default_rng(seed), [], [], []
    for phone, sounds in sorted(found.items()):
        chosen = sorted(draw.choice(len(sounds), min(OF_EACH, len(sounds)), replace=False))
        phones += [phone] * len(chosen)
        shapes += [sounds[row][0] for row in chosen]
        heards += [heard for row in chosen if (heard := sounds[row][1]) is not None]
    kept = np.clip(np.round(np.stack(shapes) / STEP), -127, 127).astype(np.int8)
    complete = len(heards) == len(phones)
    return PublicSounds(np.array(phones), kept, np.stack(heards).round().astype(np.uint8) if complete else None)
