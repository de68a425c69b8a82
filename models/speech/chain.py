"""The one speech chain: align, change the voice, mask, check, cut. Whoever handles speech calls these functions.

Each takes a member and a Spoken and gives a new Spoken, or raises a Refusal: the stages of the graph, the studies,
`sottovoce mask` and a line in a REPL do the same to the same utterance. `SpeechChain` runs them in a row and takes the time
of each.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, Utterance
from sottovoce.models.settings import Spec, member_class
from sottovoce.models.speech.align import Aligner
from sottovoce.models.speech.audio import Speech, level, resample
from sottovoce.models.speech.mask import BeforeVoice, Masker
from sottovoce.models.speech.masked_words import MaskedWords, mark, to_the_edges, with_misfits
from sottovoce.models.speech.recognise import Listener, refuse_if_heard
from sottovoce.models.speech.slice import Slice, Slicer
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice import Anonymiser, Slices, TakesBatches, Voiced

AlignOn = Literal["original", "anonymised"]
EditsOf = Callable[[Utterance], Sequence[Edit]]  # what stands in place of the sensitive words
LEAST_CHANGE = 0.05  # of the level


class VoiceUnchanged(Refusal):
    """What came back from the voice is what went in: the speaker would be released."""

    code = "voice_unchanged"
    allowed = "speech that the voice can change; a pure tone, for one, has no formants to move"


def refuse_if_unchanged(before: Speech, after: Speech) -> None:
    """Nothing passes a voice as it came, whatever the method: what is left of the difference must be heard."""
    source = resample(before, after.rate_hz).samples
    shared = min(len(source), len(after.samples))
    if abs(len(source) - len(after.samples)) > after.rate_hz // 100:
        return
    first, second = source[:shared], after.samples[:shared]
    if level(first - second) < LEAST_CHANGE * max(level(first), 1e-9):
        raise VoiceUnchanged


def order(align_on: AlignOn, mask_first: bool = False) -> tuple[str, ...]:
    """The steps by name. The original aligns best, and its phones help the voice; COMPRISE aligns what the voice made.

    `mask_first`: what stands in place of a masked word is said by the voice (`mask.BeforeVoice`).
    """
    if mask_first:
        return ("align", "mask", "voice", "relisten", "slice")
    first = ("align", "voice") if align_on == "original" else ("voice", "align")
    return (*first, "mask", "relisten", "slice")


def masks_first(mask: Spec) -> bool:
    """Whether this masker comes before the voice."""
    return issubclass(member_class(mask.family, mask.name), BeforeVoice)


def aligned(aligner: Aligner, spoken: Spoken) -> Spoken:
    """With the time of each word of its text. What is perhaps not said as written becomes a span: masked like the others."""
    words = aligner.align(spoken.speech, spoken.utterance.text, spoken.utterance.language)
    others = tuple(aligned(aligner, other) for other in spoken.others)
    utterance = dataclasses.replace(spoken.utterance, spans=with_misfits(words, spoken.utterance.spans))
    return dataclasses.replace(spoken, utterance=utterance, words=tuple(words), others=others)


def voiced(voice: Anonymiser, spoken: Spoken, secret: Secret, slices: Slices | None = None) -> Spoken:
    """In another voice. `slices` tells a voice that changes from slice to slice where the cuts will be."""
    return in_new_voice(spoken, voice.transform(spoken.utterance, spoken.speech, spoken.words, secret, slices))


def all_voiced(voice: TakesBatches, batch: Sequence[Spoken], secret: Secret) -> list[Spoken]:
    """The same for a voice that takes batches."""
    made = voice.transform_many([(spoken.utterance, spoken.speech, spoken.words) for spoken in batch], secret)
    return [in_new_voice(spoken, new) for spoken, new in zip(batch, made, strict=True)]


def in_new_voice(spoken: Spoken, new: Voiced) -> Spoken:
    """The utterance with the new speech, its words where they are said now; refused if nothing was changed."""
    refuse_if_unchanged(spoken.speech, new.speech)
    others = tuple(in_new_voice(spoken, other) for other in new.others)
    return dataclasses.replace(
        spoken, speech=new.speech, words=new.words, unsaid=new.unsaid, slices=new.slices, others=others
    )


def words_to_mask(masker: Masker, spoken: Spoken) -> MaskedWords:
    """The words of the utterance's spans, with the times at which they are overwritten."""
    text, spans, words = spoken.utterance.text, spoken.utterance.spans, spoken.words
    if spoken.unsaid:
        return mark(text, spans, words, masker.guard_ms / 1000)
    return to_the_edges(mark(text, spans, words), words, spoken.speech.duration_s)


def masked(masker: Masker, spoken: Spoken, edits_of: EditsOf | None = None) -> Spoken:
    """Without its sensitive words. Before the voice, the words of `edits_of` stand there for it to say."""
    if isinstance(masker, BeforeVoice) and edits_of is not None:
        return masker.respoken(spoken, edits_of(spoken.utterance))
    found, others = words_to_mask(masker, spoken), tuple(masked(masker, other) for other in spoken.others)
    return dataclasses.replace(spoken, speech=masker.mask(spoken.speech, found.stretches), masked=found, others=others)


def checked(listener: Listener, spoken: Spoken) -> Spoken:
    """The same, or refused because a removed word is still heard."""
    assert spoken.masked is not None, "the check comes after masking"
    # Of words that were never said nothing is in the sound: whatever is heard there is another word.
    if not spoken.unsaid:
        refuse_if_heard(listener, spoken.speech, spoken.utterance.text, spoken.words, spoken.masked)
    for other in spoken.others:
        checked(listener, other)
    return spoken


def cut(slicer: Slicer, spoken: Spoken) -> list[Slice]:
    """Slices in order of time; after them, those of each further version."""
    assert spoken.masked is not None, "speech is cut only after it was masked"
    if spoken.slices:
        return [slicer.levelled(piece) for piece in spoken.slices]
    own = slicer.cut(spoken.speech, spoken.utterance.text, spoken.words, spoken.masked)
    return [*own, *(piece for other in spoken.others for piece in cut(slicer, other))]


@dataclass
class SpeechChain:
    """All steps with their members, for whoever needs no graph. `seconds`: processor time of each step so far."""

    aligner: Aligner
    voice: Anonymiser
    masker: Masker
    listener: Listener
    slicer: Slicer
    secret: Secret
    align_on: AlignOn = "original"
    edits_of: EditsOf | None = None  # for a masker that comes before the voice
    seconds: dict[str, float] = field(default_factory=dict)

    def setup(self) -> None:
        for member in (self.aligner, self.voice, self.masker, self.listener):
            member.setup()

    def run(self, spoken: Spoken) -> list[Slice]:
        """Slices in order of time, or the first Refusal."""
        return self.cut(self.protected(spoken))

    def protected(self, spoken: Spoken) -> Spoken:
        """Everything before the cut."""
        *_, last = self.steps(spoken)
        return last

    def steps(self, spoken: Spoken) -> Iterator[Spoken]:
        """The same one by one, for whoever may stop in between. What is aligned already is not aligned again, unless the
        voice comes first."""
        names = order(self.align_on, self.edits_of is not None and isinstance(self.masker, BeforeVoice))
        for name in names[names[0] == "align" and bool(spoken.words) : -1]:
            spoken = self._timed(name, self._step(name), spoken)
            yield spoken

    def align(self, spoken: Spoken) -> Spoken:
        return self._timed("align", self._step("align"), spoken)

    def cut(self, spoken: Spoken) -> list[Slice]:
        return self._timed("slice", lambda one: cut(self.slicer, one), spoken)

    def _step(self, name: str) -> Callable[[Spoken], Spoken]:
        return {
            "align": lambda spoken: aligned(self.aligner, spoken),
            "voice": lambda spoken: voiced(self.voice, spoken, self.secret, self.slicer.groups),
            "mask": lambda spoken: masked(self.masker, spoken, self.edits_of),
            "relisten": lambda spoken: checked(self.listener, spoken),
        }[name]

    def _timed(self, name: str, step: Callable[[Spoken], Any], spoken: Spoken) -> Any:
        began = time.process_time()
        try:
            return step(spoken)
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - began
