"""The whole way of one utterance's speech in a plain call: align, change the voice, mask, listen again, cut.

The graph runs the same members as stages; here they run in a row, with the processor time of each, for measuring.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.audio import Speech
from sottovoce.models.masked_words import mark
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.relisten import refuse_if_heard
from sottovoce.models.slice import Slice, Slicer
from sottovoce.models.spoken import Spoken
from sottovoce.pipelines.job_file import JobFile


def chain_of(job: JobFile, secret: Secret) -> SpeechChain:
    align, voice, mask, relisten = (job.specs[family].make() for family in ("align", "voice", "mask", "relisten"))
    return SpeechChain(align, voice, mask, relisten, job.sections["slice"], secret)


@dataclass
class SpeechChain:
    aligner: Any
    voice: Any
    masker: Any
    listener: Any
    slicer: Slicer
    secret: Secret
    seconds: dict[str, float] = field(default_factory=dict)

    def setup(self) -> None:
        for member in (self.aligner, self.voice, self.masker, self.listener):
            member.setup()

    def run(self, utterance: Utterance, speech: Speech) -> list[Slice]:
        """Slices in order of time, or the first Refusal."""
        return self.cut(self.hush(self.align(utterance, speech)))

    def align(self, utterance: Utterance, speech: Speech) -> Spoken:
        words = self._timed("align", lambda: self.aligner.align(speech, utterance.text, utterance.language))
        return Spoken(utterance, speech, words)

    def hush(self, spoken: Spoken) -> Spoken:
        """In another voice, without the sensitive words, and listened to."""
        utterance, secret = spoken.utterance, self.secret
        cuts = {"slices": self.slicer.groups} if self.voice_knows_cuts else {}
        heard = (utterance, spoken.speech, spoken.words, secret)
        voiced = self._timed("voice", lambda: self.voice.transform(*heard, **cuts))
        unsaid_guard_s = self.masker.guard_ms / 1000 if voiced.unsaid else None
        masked = mark(utterance.text, utterance.spans, voiced.words, unsaid_guard_s)
        quiet = self._timed("mask", lambda: self.masker.mask(voiced.speech, masked.stretches))
        if not voiced.unsaid:
            listen = (self.listener, quiet, utterance.text, voiced.words, masked)
            self._timed("relisten", lambda: refuse_if_heard(*listen))
        return Spoken(utterance, quiet, voiced.words, voiced.unsaid, masked)

    def cut(self, spoken: Spoken) -> list[Slice]:
        assert spoken.masked is not None, "speech is cut only after it was masked"
        cut = (spoken.speech, spoken.utterance.text, spoken.words, spoken.masked)
        return self._timed("slice", lambda: self.slicer.cut(*cut))

    @property
    def voice_knows_cuts(self) -> bool:
        return getattr(self.voice, "assign", None) == "slice"

    def _timed(self, stage: str, step: Callable[[], Any]) -> Any:
        began = time.process_time()
        try:
            return step()
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - began
