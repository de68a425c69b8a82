"""Hear a corpus for the voice builder: features and speaker embeddings of aligned speech."""

from __future__ import annotations

from sottovoce.models.settings import Spec
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice.builder.examples import Heard
from sottovoce.models.speech.voice.public_sounds import phones_heard
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Stage, Step


class HearVoices(Stage):
    """Batches of aligned Spoken -> batches of Heard."""

    def __init__(self, job: Job, encoder: Spec | None):
        super().__init__(_Hear(encoder), job)


class _Hear(Step):
    name = "hear"

    def __init__(self, encoder: Spec | None):
        self._encoder = encoder

    def setup(self) -> None:
        from sottovoce.models.speech.align.phone_judge import Judge
        from sottovoce.models.speech.voice.opus_features import Analysis

        self._analysis, self._judge = Analysis(), Judge()
        if self._encoder is not None:
            members.load(self._encoder)

    def one(self, spoken: Spoken) -> Heard:
        utterance = spoken.utterance
        features = self._analysis(spoken.speech)
        gender = (utterance.gender or "")[:1].lower()
        embedding = None
        if self._encoder is not None:
            loaded = members.load(self._encoder)
            with loaded.lock:
                embedding = loaded.member.embed(spoken.speech)
        return Heard(
            utterance=utterance.id,
            speaker=utterance.speaker_id or "",
            gender=gender if gender in ("f", "m") else "",
            features=features,
            words=spoken.words,
            embedding=embedding,
            phones=phones_heard(self._judge, spoken.speech, len(features)),
        )
