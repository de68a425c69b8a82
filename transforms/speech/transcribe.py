"""Write down what is said where nobody did: records whose text is "-" or has nothing to say in it.

This happens before detection, for what is not in a text cannot be found in it. The aligner then refuses a transcript that
does not fit. Audio of such records is read twice, here and on its way to the speech sink.
"""

from __future__ import annotations

import dataclasses

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.recognise import is_transcript, written_down
from sottovoce.models.speech.spoken import Spoken
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Stage, Step
from sottovoce.transforms.speech.stages import LoadAudio


class TranscribeUtterances(Stage):
    """Batches of Utterances; those with a transcript, or without audio, pass as they are."""

    def __init__(self, job: Job, recogniser: Spec):
        super().__init__(_Utterances(recogniser, LoadAudio(job.audio_roots, job.audio)), job)


class TranscribeSpeech(Stage):
    """Batches of Spoken, whose audio is loaded already."""

    def __init__(self, job: Job, recogniser: Spec):
        super().__init__(_Speech(recogniser), job)


class _Transcribe(Step):
    """A recogniser is large, and most corpora have transcripts: it is loaded when the first one is missing."""

    name = "transcribe"

    def __init__(self, recogniser: Spec):
        self._spec = recogniser

    def _written_down(self, utterance: Utterance, speech: Speech) -> Utterance:
        loaded = members.load(self._spec)
        with loaded.lock:
            return dataclasses.replace(utterance, text=written_down(loaded.member, speech))


class _Speech(_Transcribe):
    def one(self, spoken: Spoken) -> Spoken:
        if is_transcript(spoken.utterance.text):
            return spoken
        return dataclasses.replace(spoken, utterance=self._written_down(spoken.utterance, spoken.speech))


class _Utterances(_Transcribe):
    def __init__(self, recogniser: Spec, load: LoadAudio):
        super().__init__(recogniser)
        self._load = load

    def one(self, utterance: Utterance) -> Utterance:
        if is_transcript(utterance.text) or utterance.audio is None:
            return utterance
        return self._written_down(utterance, self._load(utterance))


def ledger(recogniser: Spec) -> LedgerEntry:
    """What the report says of transcripts that a recogniser wrote, and of names that it may have misheard."""
    return LedgerEntry(
        stage="transcribe",
        mechanism=recogniser.name,
        says="Records without a transcript were written down by a recogniser; the rest of the run takes that for what was said.",
        not_protected=(
            "a name that the recogniser writes as other words is not found: a voice that speaks from the transcript "
            "(phonetic, xvector) then says the other words, any other voice lets the name be heard",
        ),
        parameters=dict(recogniser.options),
    )
