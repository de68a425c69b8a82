"""The speech chain as stages of the graph: what each does to an utterance stands in `models/speech/chain.py`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sottovoce.models.forget.whose import Part, part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, SpeechSlice, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech import audio, chain
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.models.speech.masked_words import MISFIT
from sottovoce.models.speech.slice import Slice, slice_id
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice import TakesBatches
from sottovoce.models.speech.voice.from_text import speak
from sottovoce.models.tally import Given, Tally
from sottovoce.models.text.chain import draws_of, without_coin
from sottovoce.transforms.engine import members
from sottovoce.transforms.engine.job import AudioSettings, Job
from sottovoce.transforms.engine.stage import Stage, Step
from sottovoce.transforms.read.corpus import OpenAudio
from sottovoce.transforms.write.rows import origin_of

SINK = "stt_am"  # where all of this leads


@dataclass(frozen=True, slots=True)
class Sliced:
    """The slices of one utterance, under its keyed origin."""

    origin: str
    source: Source
    slices: tuple[SpeechSlice, ...]
    part: Part

    def parts(self) -> Iterator[Part]:
        """The first slice stands for the utterance where utterances are counted."""
        yield self.part
        yield from itertools.repeat(self.part._replace(first=False, audio_s=0.0), len(self.slices) - 1)


class LoadAudio:
    """How a job reads a recording: from where it may, as long as it may be, in the channel of the speaker."""

    def __init__(self, roots: AudioRoots, settings: AudioSettings):
        self._open, self._channel = OpenAudio(roots), settings.channel
        self._limits = audio.AudioLimits(max_s=settings.max_seconds)

    def __call__(self, utterance: Utterance) -> audio.Speech:
        return audio.load(utterance.audio, self._open, self._limits, self._channel)


class LoadSpeech(Stage):
    """Utterances -> Spoken: the one stage that reads original audio."""

    def __init__(self, job: Job):
        super().__init__(_Load(job), job)


class AlignWords(Stage):
    """Find the words of each utterance in its speech."""

    def __init__(self, job: Job):
        super().__init__(_Align(job), job)


class AnonymiseVoice(Stage):
    """Replace the voice of each utterance."""

    def __init__(self, job: Job):
        super().__init__(_Anonymise(job), job)


class MaskWords(Stage):
    """Remove the sensitive words from the speech, or put surrogates there for the voice to say."""

    def __init__(self, job: Job):
        step = _SaySurrogates(job) if chain.masks_first(job.mask) else _WithMember("mask", job.mask, chain.masked)
        super().__init__(step, job)


class ListenAgain(Stage):
    """What still says a removed word goes no further."""

    def __init__(self, job: Job):
        super().__init__(_WithMember("relisten", job.relisten, chain.checked), job)


class SliceSpeech(Stage):
    """Spoken -> Sliced: each slice gets an id that tells nothing."""

    def __init__(self, job: Job):
        super().__init__(_Slice(job), job)


STAGES = {
    "align": AlignWords,
    "voice": AnonymiseVoice,
    "mask": MaskWords,
    "relisten": ListenAgain,
    "slice": SliceSpeech,
}


class _Load(Step):
    name = "load"

    def __init__(self, job: Job):
        self._load, self._rate_hz = LoadAudio(job.audio_roots, job.audio), job.audio.rate_hz

    def one(self, utterance: Utterance) -> Spoken:
        speech = audio.resample(self._load(utterance), self._rate_hz)
        return Spoken(utterance, speech, loaded_s=speech.duration_s)

    def count(self, tally: Tally, item: Utterance, outcome: Spoken) -> None:
        tally.audio_s += outcome.loaded_s


class _WithMember(Step):
    """A function of the chain with the member that this worker process has loaded."""

    def __init__(self, name: str, member: Spec, act: Callable[..., Spoken]):
        self.name, self._spec, self._act = name, member, act

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, spoken: Spoken) -> Spoken:
        loaded = members.load(self._spec)
        with loaded.lock:
            return self._act(loaded.member, spoken)


class _Align(_WithMember):
    def __init__(self, job: Job):
        super().__init__("align", job.align, chain.aligned)

    def count(self, tally: Tally, item: Spoken, outcome: Spoken) -> None:
        left_out = len(outcome.utterance.spans) - len(item.utterance.spans)
        if left_out:
            tally.given.setdefault(SINK, Given()).spans[MISFIT] += left_out


class _SaySurrogates(Step):
    """The words that `replace` would draw, all of them: speech has no coin that keeps a word."""

    name = "mask"

    def __init__(self, job: Job):
        self._masker, self._strategy, self._always = job.mask, job.replace, without_coin(job.replace)
        self._secret = job.secret
        self._key: Secret | None = None

    def setup(self) -> None:
        members.load(self._masker)
        members.load(self._always)

    def one(self, spoken: Spoken) -> Spoken:
        if self._key is None:  # made on the worker: a key that is no reference must not be pickled
            self._key = draws_of(self._secret, self._strategy)
        masker, strategy = members.load(self._masker), members.load(self._always)
        with strategy.lock:
            edits = strategy.member.replace(spoken.utterance, self._key)
        with masker.lock:
            return chain.masked(masker.member, spoken, lambda _: edits)


class _Anonymise(Step):
    name = "voice"

    def __init__(self, job: Job):
        self._spec, self._secret, self._slicer = job.voice, job.secret, job.slice

    def setup(self) -> None:
        members.load(self._spec)

    def many(self, batch: Sequence[Spoken]) -> list[Spoken] | None:
        loaded = members.load(self._spec)
        if not isinstance(loaded.member, TakesBatches):
            return None
        with loaded.lock:
            return chain.all_voiced(loaded.member, batch, self._secret)

    def one(self, spoken: Spoken) -> Spoken:
        loaded = members.load(self._spec)
        with loaded.lock:
            return chain.voiced(loaded.member, spoken, self._secret, self._slicer.groups)


class SpeakTexts(Stage):
    """Released texts, which belong to nobody, -> Sliced: speech that follows from each text and the secret alone."""

    def __init__(self, job: Job):
        super().__init__(_Speak(job), job)


class _Speak(Step):
    name = "voice"

    def __init__(self, job: Job):
        self._spec, self._secret, self._slicer = job.voice, job.secret, job.slice

    def setup(self) -> None:
        members.load(self._spec)

    def one(self, utterance: Utterance) -> Sliced:
        name, loaded = slice_id(self._secret, utterance, 0), members.load(self._spec)
        with loaded.lock:
            spoken = Slice(speak(loaded.member, utterance.text, self._secret, name), utterance.text)
        speech = self._slicer.levelled(spoken).speech
        made = SpeechSlice(
            name, audio.to_flac(speech), utterance.text, round(speech.duration_s, 3), speech.rate_hz, utterance.language
        )
        part = part_of_utterance(self._secret, utterance)
        return Sliced(origin_of(self._secret, utterance), utterance.source, (made,), part)


class _Slice(Step):
    name = "slice"

    def __init__(self, job: Job):
        self._slicer, self._secret = job.slice, job.secret

    def one(self, spoken: Spoken) -> Sliced:
        utterance = spoken.utterance
        slices = tuple(
            SpeechSlice(
                id=slice_id(self._secret, utterance, number),
                audio=audio.to_flac(piece.speech),
                text=piece.text,
                duration_s=round(piece.speech.duration_s, 3),
                rate_hz=piece.speech.rate_hz,
                language=utterance.language,
            )
            for number, piece in enumerate(chain.cut(self._slicer, spoken))
        )
        part = part_of_utterance(self._secret, utterance)._replace(audio_s=spoken.loaded_s)
        return Sliced(origin_of(self._secret, utterance), utterance.source, slices, part)
