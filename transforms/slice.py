"""Cut masked speech into slices and give each an id that tells nothing."""

from __future__ import annotations

from sottovoce.models.audio import to_flac
from sottovoce.models.randomness import Secret
from sottovoce.models.records import SpeechSlice
from sottovoce.models.slice import Slicer
from sottovoce.models.spoken import Spoken
from sottovoce.transforms.job import Job
from sottovoce.transforms.rows import origin_of
from sottovoce.transforms.stage import Stage
from sottovoce.transforms.stage_audio import Sliced


class SliceSpeech(Stage):
    def __init__(self, job: Job):
        super().__init__(_Slice(job.slice, job.secret), job)


class _Slice:
    name = "slice"

    def __init__(self, slicer: Slicer, secret: Secret):
        self._slicer, self._secret = slicer, secret

    def setup(self) -> None:
        pass

    def one(self, spoken: Spoken) -> Sliced:
        utterance = spoken.utterance
        assert spoken.masked is not None, "speech is cut only after it was masked"
        pieces = self._slicer.cut(spoken.speech, utterance.text, spoken.words, spoken.masked)
        slices = tuple(
            SpeechSlice(
                id=self._secret.token("slice", utterance.dialogue_id, utterance.id, number),
                audio=to_flac(piece.speech),
                text=piece.text,
                duration_s=round(piece.speech.duration_s, 3),
                rate_hz=piece.speech.rate_hz,
                language=utterance.language,
            )
            for number, piece in enumerate(pieces)
        )
        return Sliced(origin_of(self._secret, utterance), utterance.source, slices)
