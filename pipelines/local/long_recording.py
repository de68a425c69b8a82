"""A recording of any length, read in parts: never more of it in memory than one asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio import AudioLimits, Speech, load, resample
from sottovoce.models.speech.audio_refusals import (
    AudioMissing,
    AudioNotFound,
    AudioSilent,
    AudioUnreadable,
    ChannelAbsent,
)

RATE_HZ = 16_000
LIMITS = AudioLimits(min_s=0.001, max_s=120.0)
COMPARED_S = 60.0


class LongRecording:
    """A recording, or the part of it that a record names; its file is opened anew for each stretch that is read."""

    def __init__(self, ref: AudioRef | None, open_audio: Callable[[str], Any]):
        import soundfile

        if ref is None or ref.row is not None:
            raise AudioMissing
        self._ref, self._open = ref, open_audio
        try:
            with open_audio(ref.uri) as file, soundfile.SoundFile(file) as sound:
                self.channels, total_s = sound.channels, sound.frames / sound.samplerate
        except OSError:
            raise AudioNotFound from None
        except (soundfile.SoundFileError, TypeError, ValueError):
            raise AudioUnreadable from None
        self._begin_s = ref.begin_s or 0.0
        self.duration_s = min(ref.end_s if ref.end_s is not None else total_s, total_s) - self._begin_s

    def read(self, channel: int, begin_s: float, end_s: float) -> Speech:
        """At 16 kHz; what is silent throughout is silence, and no fault here."""
        end_s = min(end_s, self.duration_s)
        part = AudioRef(self._ref.uri, self._begin_s + begin_s, self._begin_s + end_s, channel=channel)
        try:
            return resample(load(part, self._open, LIMITS, "split"), RATE_HZ)
        except AudioSilent:
            return Speech(np.zeros(int((end_s - begin_s) * RATE_HZ), np.float32), RATE_HZ)

    def speaking(self, named: int | None) -> list[int]:
        """The channel that the record names, else all; channels that are copies of the first count once."""
        if named is not None:
            if named >= self.channels:
                raise ChannelAbsent
            return [named]
        first = self.read(0, 0.0, COMPARED_S).samples
        return [
            0,
            *(k for k in range(1, self.channels) if not np.array_equal(first, self.read(k, 0.0, COMPARED_S).samples)),
        ]
