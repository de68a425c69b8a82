"""Turn the audio reference of each utterance into speech: the one stage that reads original audio."""

from __future__ import annotations

from sottovoce.models import audio
from sottovoce.models.records import Utterance
from sottovoce.models.spoken import Spoken
from sottovoce.transforms.corpus import open_file
from sottovoce.transforms.job import AudioSettings, Job
from sottovoce.transforms.stage import Stage


class LoadSpeech(Stage):
    def __init__(self, job: Job):
        super().__init__(_Load(job.audio), job)


class _Load:
    name = "load"

    def __init__(self, settings: AudioSettings):
        self._settings = settings

    def setup(self) -> None:
        pass

    def one(self, utterance: Utterance) -> Spoken:
        speech = audio.load(utterance.audio, open_file, audio.AudioLimits(max_s=self._settings.max_seconds))
        return Spoken(utterance, audio.resample(speech, self._settings.rate_hz))

    def audio_seconds(self, spoken: Spoken) -> float:
        return spoken.speech.duration_s
