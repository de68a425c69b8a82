"""Hear a corpus for the voice builder: transcripts where there are none, then phones, features and speaker embeddings."""

from __future__ import annotations

import dataclasses

from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.spoken import Spoken
from sottovoce.models.voice.builder.examples import Heard
from sottovoce.transforms import members
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


def has_transcript(utterance: Utterance) -> bool:
    """A text in which nothing can be spoken, such as "-", stands for none."""
    return any(map(str.isalnum, utterance.text))


class Transcribe(Stage):
    """Write down what is said where nobody did; the aligner then keeps only what fits."""

    def __init__(self, job: Job, recogniser: Spec):
        super().__init__(_Transcribe(recogniser), job)


class _Transcribe:
    name = "transcribe"

    def __init__(self, recogniser: Spec):
        self._spec = recogniser

    def setup(self) -> None:
        pass  # a recogniser is large, and most corpora have transcripts: it is loaded when the first one is missing

    def one(self, spoken: Spoken) -> Spoken:
        if has_transcript(spoken.utterance):
            return spoken
        loaded = members.load(self._spec)
        with loaded.lock:
            text = loaded.member.transcribe(spoken.speech)
        return dataclasses.replace(spoken, utterance=dataclasses.replace(spoken.utterance, text=text))


class HearVoices(Stage):
    """Batches of aligned Spoken -> batches of Heard."""

    def __init__(self, job: Job, encoder: Spec | None):
        super().__init__(_Hear(encoder), job)


class _Hear:
    name = "hear"

    def __init__(self, encoder: Spec | None):
        self._encoder = encoder

    def setup(self) -> None:
        from sottovoce.models.voice.opus_features import Analysis

        self._analysis = Analysis()
        if self._encoder is not None:
            members.load(self._encoder)

    def one(self, spoken: Spoken) -> Heard:
        utterance = spoken.utterance
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
            features=self._analysis(spoken.speech),
            words=spoken.words,
            embedding=embedding,
        )
