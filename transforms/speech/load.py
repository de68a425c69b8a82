"""How a job reads a recording: from where it may, as long as it may be, in the channel of the speaker."""

from __future__ import annotations

from sottovoce.models.records import Utterance
from sottovoce.models.speech import audio
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.transforms.engine.job import AudioSettings
from sottovoce.transforms.read.corpus import OpenAudio


class LoadAudio:
    def __init__(self, roots: AudioRoots, settings: AudioSettings):
        self._open, self._settings = OpenAudio(roots), settings

    def __call__(self, utterance: Utterance) -> audio.Speech:
        limits = audio.AudioLimits(max_s=self._settings.max_seconds)
        return audio.load(utterance.audio, self._open, limits, self._settings.channel)
