"""Words that must not be said are cut out of the recording before anything is measured in it.

A silence of fixed length stands in their place: what follows the pitch or reads between two frames would else depend on how
long they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.models.records import Word
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.voice.opus_features import HOP, RATE_HZ
from sottovoce.models.speech.voice.phone_track import LEAD, PhoneTrack, track_of, without_words


def cut_out(
    speech: Speech, words: Sequence[Word], left_out: frozenset[int], gap: int
) -> tuple[Speech, PhoneTrack, PhoneTrack]:
    """The recording, its track, and the track with its lengths in the recording; all on the clock of what is left."""
    whole = track_of(words, round(speech.duration_s * RATE_HZ) // HOP + 2)
    if not left_out:
        return speech, whole, whole
    track = without_words(whole, left_out, gap)
    length = np.where(track.left_out, track.length, track.source_length)
    samples = resample(_silent(speech, [words[index] for index in sorted(left_out)]), RATE_HZ).samples
    last = HOP * int((track.source_begin + track.source_length).max())
    samples = np.pad(samples, (HOP * LEAD, max(last - len(samples), 0)))
    pieces = [
        np.zeros(HOP * frames, np.float32) if gone else samples[HOP * begin : HOP * (begin + frames)]
        for begin, frames, gone in zip(track.source_begin, length, track.left_out, strict=True)
    ]
    moved = replace(track, source_begin=np.cumsum(length) - length, source_length=length)
    return Speech(np.concatenate(pieces)[HOP * LEAD :], RATE_HZ), moved, replace(moved, length=length)


def _silent(speech: Speech, words: Sequence[Word]) -> Speech:
    samples = speech.samples.copy()
    for word in words:
        samples[round(word.begin_s * speech.rate_hz) : round(word.end_s * speech.rate_hz)] = 0.0
    return Speech(samples, speech.rate_hz)
