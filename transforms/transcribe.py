"""Write down what is said where nobody did: records whose text is "-" or has nothing to say in it.

This happens before detection, for what is not in a text cannot be found in it. The aligner then refuses a transcript that
does not fit. Audio of such records is read twice, here and on its way to the speech sink.
"""

from __future__ import annotations

import dataclasses

from sottovoce.models import audio
from sottovoce.models.errors import Refusal
from sottovoce.models.records import LedgerEntry, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.spoken import Spoken
from sottovoce.transforms import members
from sottovoce.transforms.corpus import open_file
from sottovoce.transforms.job import Job
from sottovoce.transforms.stage import Stage


class NothingHeard(Refusal):
    code = "nothing_heard"
    allowed = "speech in which the recogniser of audio.transcribe hears at least one word"


def has_transcript(utterance: Utterance) -> bool:
    """A text in which nothing can be spoken, such as "-", stands for none."""
    return any(map(str.isalnum, utterance.text))


class TranscribeUtterances(Stage):
    """Batches of Utterances; those with a transcript, or without audio, pass as they are."""

    def __init__(self, job: Job, recogniser: Spec):
        super().__init__(_Utterances(recogniser, audio.AudioLimits(max_s=job.audio.max_seconds)), job)


class TranscribeSpeech(Stage):
    """Batches of Spoken, whose audio is loaded already."""

    def __init__(self, job: Job, recogniser: Spec):
        super().__init__(_Speech(recogniser), job)


class _Transcribe:
    name = "transcribe"

    def __init__(self, recogniser: Spec):
        self._spec = recogniser

    def setup(self) -> None:
        pass  # a recogniser is large, and most corpora have transcripts: it is loaded when the first one is missing

    def _written_down(self, utterance: Utterance, speech: audio.Speech) -> Utterance:
        loaded = members.load(self._spec)
        with loaded.lock:
            heard = dataclasses.replace(utterance, text=loaded.member.transcribe(speech))
        if not has_transcript(heard):
            raise NothingHeard
        return heard


class _Speech(_Transcribe):
    def one(self, spoken: Spoken) -> Spoken:
        if has_transcript(spoken.utterance):
            return spoken
        return dataclasses.replace(spoken, utterance=self._written_down(spoken.utterance, spoken.speech))


class _Utterances(_Transcribe):
    def __init__(self, recogniser: Spec, limits: audio.AudioLimits):
        super().__init__(recogniser)
        self._limits = limits

    def one(self, utterance: Utterance) -> Utterance:
        if has_transcript(utterance) or utterance.audio is None:
            return utterance
        return self._written_down(utterance, audio.load(utterance.audio, open_file, self._limits))


def ledger(recogniser: Spec) -> LedgerEntry:
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
