"""What is done with speech: written down where nobody did, aligned, given another voice, masked, checked, cut.

The members are the pipeline's, and so is the chain (`models/speech/chain.py`). Sound comes and goes in memory.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sottovoce.models.errors import Refusal, SettingsError
from sottovoce.models.records import AudioRef, Span, Word
from sottovoce.models.settings import Spec
from sottovoce.models.speech import audio, chain
from sottovoce.models.speech.masked_words import text_between
from sottovoce.models.speech.recognise import is_transcript, written_down
from sottovoce.models.speech.slice import Slice
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.text.detect.word_list import chosen
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.batches import CLOSED_BY_CALLER, Asked, each
from sottovoce.pipelines.service.draws import RequestDraws
from sottovoce.pipelines.service.service_settings import ServiceSettings
from sottovoce.pipelines.service.text_work import detected, settled_language, utterance_of
from sottovoce.transforms.engine import members

MOST_VARIANTS = 4
STEPS = ("align", "voice", "mask", "relisten")


class TranscriptMissing(Refusal):
    code = "transcript_missing"
    allowed = "speech with its text, or a service with a recogniser: --set audio.transcribe=moonshine"


@dataclass(frozen=True, slots=True, repr=False)
class SpeechItem:
    """`do`: another voice and masks, or masks alone. `types`: of what is masked; None is everything that is found."""

    content: bytes
    text: str
    draws: RequestDraws
    do: Literal["anonymise", "mask"] = "anonymise"
    gender: str | None = None
    language: str | None = None
    types: tuple[str, ...] | None = None
    voice: Spec | None = None  # another than the service's


@dataclass(frozen=True, slots=True, repr=False)
class SpeechAnswer:
    """What became of one recording: the new speech and its words; slices only where it was given another voice."""

    speech: audio.Speech
    text: str  # without what was masked
    words: tuple[Word, ...]  # where they stand now
    masked: frozenset[int]
    spans: tuple[Span, ...]
    transcript: str  # all of it: for the caller who brought it, and nobody else
    before: tuple[Word, ...] = ()  # where the words stood in what was sent
    slices: tuple[Slice, ...] = ()


class SpeechWork:
    """The work of the queue for speech: called with what waits, it answers each item or refuses it alone."""

    def __init__(self, settings: ServiceSettings):
        self._settings = settings
        self._variants: dict[Spec, Any] = {}

    def setup(self) -> None:
        for family in ("detect", *STEPS):
            members.load(self._settings.specs[family])
        if self._settings.audio.recogniser is not None:
            members.load(self._settings.audio.recogniser)

    def _variant(self, spec: Spec) -> Any:
        """Another choice of pseudo-speakers shares what the service's own voice has loaded; of others one is kept."""
        own = self._settings.specs["voice"]
        if spec not in self._variants:
            if spec.name == own.name:
                more = {name: value for name, value in spec.options if (name, value) not in own.options}
                made = members.load(own).member.choosing(**more)
            else:
                made = spec.make()
                made.setup()
            if len(self._variants) >= MOST_VARIANTS:
                self._variants.pop(next(iter(self._variants)))
            self._variants[spec] = made
        return self._variants[spec]

    def __call__(self, batch: Sequence[Asked]) -> list[Any]:
        return each(batch, lambda asked: self._protected(asked, self._understood(asked.item)))

    def _understood(self, item: SpeechItem) -> Spoken:
        """Loaded, written down if need be, and its sensitive words found."""
        settings = self._settings.audio
        limits = audio.AudioLimits(max_s=settings.max_seconds)
        loaded = audio.load(AudioRef("request"), lambda _: io.BytesIO(item.content), limits, settings.channel)
        speech = audio.resample(loaded, settings.rate_hz)
        text = item.text
        if not is_transcript(text):
            if settings.recogniser is None:
                raise TranscriptMissing
            recogniser = members.load(settings.recogniser)
            with recogniser.lock:
                text = written_down(recogniser.member, speech)
        language = settled_language(text, item.language or self._settings.language, self._specs(item))
        (found,) = detected(
            self._settings.specs["detect"], [utterance_of(text, item.draws, language, gender=item.gender)]
        )
        utterance = dataclasses.replace(found, spans=tuple(chosen(found.spans, item.types)))
        return Spoken(utterance, speech, loaded_s=speech.duration_s)

    def _specs(self, item: SpeechItem) -> Iterator[Spec]:
        """Of all that the speech goes through, and that may know one language and not another."""
        if not is_transcript(item.text) and self._settings.audio.recogniser is not None:
            yield self._settings.audio.recogniser
        for family in ("detect", *STEPS):
            if family != "voice":
                yield self._settings.specs[family]
            elif item.do == "anonymise":
                yield item.voice or self._settings.specs[family]

    def _protected(self, asked: Asked, understood: Spoken) -> SpeechAnswer:
        item: SpeechItem = asked.item
        steps = self._chain(item)
        spoken, before = understood, understood.words
        for spoken in self._steps(item, steps, understood):
            before = before or spoken.words
            if asked.gone.is_set():
                raise problems.Problem(CLOSED_BY_CALLER, "gone", "a caller who waits for the answer")
        assert spoken.masked is not None
        text = spoken.utterance.text
        return SpeechAnswer(
            spoken.speech,
            text_between(text, 0, len(text), spoken.masked.removed),
            spoken.words,
            spoken.masked.indices,
            spoken.utterance.spans,
            text,
            before,
            tuple(steps.cut(spoken)) if item.do == "anonymise" else (),
        )

    def _chain(self, item: SpeechItem) -> chain.SpeechChain:
        align, voice, mask, relisten = (members.load(self._settings.specs[family]).member for family in STEPS)
        if item.voice is not None:
            voice = self._variant(item.voice)
        audio_settings = self._settings.audio
        return chain.SpeechChain(
            align, voice, mask, relisten, self._settings.slicer, item.draws.secret, audio_settings.align_on
        )

    def _steps(self, item: SpeechItem, steps: chain.SpeechChain, spoken: Spoken) -> Any:
        if item.do == "anonymise":
            return steps.steps(spoken)
        return self._masked(steps, spoken)

    def _masked(self, steps: chain.SpeechChain, spoken: Spoken) -> Any:
        yield (spoken := steps.align(spoken))
        yield (spoken := chain.masked(steps.masker, spoken))
        yield chain.checked(steps.listener, spoken)


def words_of(answer: SpeechAnswer) -> list[dict[str, Any]]:
    """With their times; of a masked word its place only."""
    rows = []
    for index, word in enumerate(answer.words):
        hidden = index in answer.masked
        row: dict[str, Any] = {
            "text": None if hidden else answer.transcript[word.begin : word.end],
            "masked": hidden,
            "begin_s": round(word.begin_s, 3),
            "end_s": round(word.end_s, 3),
        }
        if index < len(answer.before):
            was = answer.before[index]
            row |= {"was_begin_s": round(was.begin_s, 3), "was_end_s": round(was.end_s, 3)}
        rows.append(row)
    return rows


def known_types(detector: Spec, types: Sequence[str] | None) -> tuple[str, ...] | None:
    """A misspelt type would leave what was meant in the clear."""
    if types is None:
        return None
    known = detector.make().finds() or frozenset()
    if not types or not set(types) <= known:
        raise SettingsError(
            [f"types: allowed are {', '.join(sorted(known)) or 'none with this detector'}; or left out, for all"]
        )
    return tuple(types)


def changed(spec: Spec, **options: Any) -> Spec:
    """The same member with these options on top of its own, sorted by name, so that equal choices are equal specs."""
    return dataclasses.replace(spec, options=tuple(sorted({**dict(spec.options), **options}.items())))
