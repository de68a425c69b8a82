"""Change the voice of each utterance and measure both recordings: who seems to speak, what is understood, how it sounds."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.evaluation.metrics.naturalness import naturalness
from sottovoce.models.evaluation.metrics.pitch_likeness import f0_correlation
from sottovoce.models.evaluation.metrics.word_errors import word_errors
from sottovoce.models.evaluation.voice_row import MeasuredSpeech, VoiceRow
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech import chain
from sottovoce.models.speech.audio import Speech, to_flac
from sottovoce.models.speech.spoken import Spoken
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import Stage, Step


@dataclass(frozen=True)
class Measures:
    """Who listens. `listened` and `samples` hold keys of utterances: recognisers are slow, and a few samples suffice."""

    aliases: Secret
    encoders: dict[str, Spec]
    recognisers: dict[str, Spec] = field(default_factory=dict)
    naturalness: bool = False
    listened: frozenset[str] = frozenset()
    samples: dict[str, int] = field(default_factory=dict)
    samples_uri: str = ""
    known: Mapping[str, MeasuredSpeech] = field(
        default_factory=dict
    )  # originals that an earlier evaluation has measured
    voices: Mapping[str, Spec] = field(default_factory=dict)  # by speaker, where one voice does not speak for all
    kept_uri: str = ""  # where all anonymised speech is kept, for an attacker that trains on it


def key_of(utterance: Utterance) -> str:
    """Tells an utterance from all others of a corpus; its id alone may come again in another dialogue."""
    return f"{utterance.dialogue_id}\0{utterance.id}"


class MeasureVoice(Stage):
    """Batches of Spoken -> batches of VoiceRow. `enrolment` marks the branch that the attacker anonymised."""

    def __init__(self, job: Job, measures: Measures, enrolment: bool):
        super().__init__(_Measure(job, measures, enrolment), job)


class _Measure(Step):
    name = "measure"

    def __init__(self, job: Job, measures: Measures, enrolment: bool):
        self._voice, self._secret, self._measures, self._enrolment = job.voice, job.secret, measures, enrolment

    def setup(self) -> None:
        voices = self._measures.voices.values() or (self._voice,)
        for spec in (*voices, *self._measures.encoders.values(), *self._measures.recognisers.values()):
            members.load(spec)

    def one(self, spoken: Spoken) -> VoiceRow:
        utterance = spoken.utterance
        voice = self._measures.voices.get(utterance.speaker_id or "", self._voice)
        loaded = members.load(voice)
        with loaded.lock:
            began = time.process_time()
            voiced = chain.voiced(loaded.member, spoken, self._secret)
            voice_s = time.process_time() - began
        listened = key_of(utterance) in self._measures.listened
        recording = hashlib.sha256(spoken.speech.samples.tobytes() + bytes([listened])).hexdigest()
        before = self._measures.known.get(recording) or self._heard(spoken.speech, utterance, listened)
        alike = f0_correlation(spoken.speech, voiced.speech, spoken.words, voiced.words)
        self._keep_sample(utterance, spoken.speech, voiced.speech)
        if self._measures.kept_uri:
            _write(FileSystems.join(self._measures.kept_uri, f"{recording}.flac"), voiced.speech)
        return VoiceRow(
            recording,
            self._measures.aliases.token("speaker", utterance.speaker_id or ""),
            self._enrolment,
            before,
            self._heard(voiced.speech, utterance, listened),
            None if math.isnan(alike) else alike,
            voice_s,
            sorted({repr(one) for one in self._measures.voices.values()} | {repr(voice)}).index(repr(voice)),
        )

    def _heard(self, speech: Speech, utterance: Utterance, listened: bool) -> MeasuredSpeech:
        embeddings = {name: members.load(spec).member.embed(speech) for name, spec in self._measures.encoders.items()}
        if not listened:
            return MeasuredSpeech(speech.duration_s, embeddings)
        errors = {}
        for name, spec in self._measures.recognisers.items():
            loaded = members.load(spec)
            with loaded.lock:
                heard = loaded.member.transcribe(speech)
            found = word_errors(utterance.text, heard, utterance.language)
            errors[name] = [found.errors, found.words]
        return MeasuredSpeech(
            speech.duration_s, embeddings, errors, naturalness(speech) if self._measures.naturalness else {}
        )

    def _keep_sample(self, utterance: Utterance, before: Speech, after: Speech) -> None:
        number = self._measures.samples.get(key_of(utterance))
        if number is None:
            return
        for name, speech in (("before", before), ("after", after)):
            _write(FileSystems.join(self._measures.samples_uri, f"{number:02}_{name}.flac"), speech)


def _write(uri: str, speech: Speech) -> None:
    with FileSystems.create(uri) as file:
        file.write(to_flac(speech))
