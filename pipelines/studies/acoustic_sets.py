"""Sets of speech to train on and to test on: originals, what a voice makes of them on its way through a run, a machine's.

Everything is aligned once; each voice then goes the rest of the one speech chain with the job's masks and slices.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.known_answers.word_times import FLITE_VOICES, flite_speech
from sottovoce.models.randomness import Secret
from sottovoce.models.records import AudioRef, Span, Utterance, Word
from sottovoce.models.settings import Spec
from sottovoce.models.speech.align.readings import as_said
from sottovoce.models.speech.audio import Speech, resample, to_flac
from sottovoce.models.speech.audio import load as decode
from sottovoce.models.speech.masked_words import MaskedWords, with_misfits
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.speech.spoken import Spoken
from sottovoce.pipelines.sanitize.job_file import JobFile
from sottovoce.pipelines.studies.speech_study import speech_chain
from sottovoce.transforms.speech.measure_voice import key_of

Load = Callable[[Utterance], Speech]  # how the recordings of the corpus are read

RATE_HZ = 16_000
NOTHING_MASKED = MaskedWords(frozenset(), (), ())


@dataclass(frozen=True, slots=True, repr=False)
class Clip:
    """Speech as it would be released, or as it came: of which utterance and speaker, what is said, a FLAC file."""

    utterance: str
    speaker: str
    text: str
    flac: bytes

    @property
    def speech(self) -> Speech:
        return decode(AudioRef("kept"), lambda _: io.BytesIO(self.flac))


@dataclass(repr=False)
class SpeechSet:
    """Clips of one set, and how many utterances were refused on the way to it, by reason."""

    pieces: list[Clip] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def of(self, keep: Callable[[Clip], bool]) -> list[Clip]:
        return [piece for piece in self.pieces if keep(piece)]


@dataclass(repr=False)
class Aligned:
    """Sensitive spans and words of each utterance that the aligner did not refuse."""

    found: dict[str, tuple[tuple[Span, ...], tuple[Word, ...]]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)


def align(utterances: Sequence[Utterance], job: JobFile, masked: bool, load: Load) -> Aligned:
    """As the job says; without `masked` no word is taken for sensitive."""
    aligner, detector, out = job.specs["align"].make(), job.specs["detect"].make(), Aligned()
    slots = job.sections["detect"]
    aligner.setup()
    if masked:
        detector.setup()
    for utterance in utterances:
        try:
            found = detector.detect([utterance.text])[0] if masked else []
            spans = tuple(slots.add(utterance.text, found, utterance.slots)) if masked else ()
            words = aligner.align(load(utterance), utterance.text, utterance.language)
            out.found[key_of(utterance)] = with_misfits(words, spans), words
        except Refusal as refusal:
            out.refused[refusal.code] += 1
    return out


def originals(utterances: Sequence[Utterance], load: Load) -> SpeechSet:
    """The recordings whole, as they came."""
    out = SpeechSet()
    for utterance in utterances:
        _add(out, utterance, lambda one: [(load(one), one.text)])
    return out


def cut_originals(utterances: Sequence[Utterance], aligned: Aligned, slicer: Slicer, load: Load) -> SpeechSet:
    """Slices of the recordings in their own voice, nothing masked: what slicing alone costs."""

    def cut(utterance: Utterance) -> Iterable[tuple[Speech, str]]:
        words = aligned.found[key_of(utterance)][1]
        slices = slicer.cut(load(utterance), utterance.text, words, NOTHING_MASKED)
        return [(piece.speech, piece.text) for piece in slices]

    out = SpeechSet(refused=Counter(aligned.refused))
    for utterance in utterances:
        if key_of(utterance) in aligned.found:
            _add(out, utterance, cut)
    return out


def voiced(
    utterances: Sequence[Utterance],
    aligned: Aligned,
    job: JobFile,
    voice_of: Callable[[str], Spec],
    secret: Secret,
    load: Load,
) -> SpeechSet:
    """What a run would release of them: each speaker in the voice that is theirs, masked and cut as the job says."""
    chain = speech_chain(job, secret)
    chain.masker.setup()
    chain.listener.setup()
    voices: dict[Spec, Any] = {}

    def released(utterance: Utterance) -> Iterable[tuple[Speech, str]]:
        spec = voice_of(utterance.speaker_id or "")
        if spec not in voices:
            voices[spec] = made = spec.make()
            made.setup()
        chain.voice = voices[spec]
        spans, words = aligned.found[key_of(utterance)]
        marked = dataclasses.replace(utterance, spans=spans)
        slices = chain.run(Spoken(marked, load(utterance), words))
        return [(piece.speech, piece.text) for piece in slices]

    out = SpeechSet(refused=Counter(aligned.refused))
    for utterance in utterances:
        if key_of(utterance) in aligned.found:
            _add(out, utterance, released)
    return out


def said_by_machine(utterances: Sequence[Utterance], machine: str) -> SpeechSet:
    """The transcripts as text-to-speech says them: no recording has any part in it."""
    say, out = MACHINES[machine](), SpeechSet()
    for place, utterance in enumerate(utterances):
        _add(out, utterance, lambda one, place=place: [(say(" ".join(_letters(one.text)), place), one.text)])  # type: ignore[misc]
    return out


def _flite() -> Callable[[str, int], Speech]:
    """One of four voices each, in turn."""
    return lambda text, place: flite_speech(text, FLITE_VOICES[place % len(FLITE_VOICES)])[0]


def _hibari() -> Callable[[str, int], Speech]:
    """The one voice that its package carries, at a speed of its own each time."""
    from hibari import Hibari

    made = Hibari(threads=1)
    return lambda text, place: Speech(
        made(text, seed=place, speed=HIBARI_SPEEDS[place % len(HIBARI_SPEEDS)]), HIBARI_HZ
    )


HIBARI_HZ, HIBARI_SPEEDS = 24_000, (0.8, 0.9, 1.0, 1.1)
MACHINES = {"flite": _flite, "hibari": _hibari}


def machines_here() -> tuple[str, ...]:
    """Text-to-speech that is installed."""
    found = {"flite": shutil.which("flite"), "hibari": importlib.util.find_spec("hibari")}
    return tuple(name for name in MACHINES if found[name])


def _letters(text: str) -> list[str]:
    """Words for flite: "c." ends a sentence there, and "C" is the letter."""
    return [word[:-1].upper() if word.endswith(".") else word for word in as_said(text)]


def _add(out: SpeechSet, utterance: Utterance, make: Callable[[Utterance], Iterable[tuple[Speech, str]]]) -> None:
    try:
        for speech, text in make(utterance):
            flac = to_flac(resample(speech, RATE_HZ))
            out.pieces.append(Clip(key_of(utterance), utterance.speaker_id or "", text, flac))
    except Refusal as refusal:
        out.refused[refusal.code] += 1
