"""The whole way of one utterance's speech in a plain call: align, change the voice, mask, listen again, cut.

The graph runs the same members as stages; here they run in a row, with the processor time of each, for measuring.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.audio import Speech
from sottovoce.models.masked_words import mark
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.relisten import refuse_if_heard
from sottovoce.models.slice import Slice, Slicer
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
        return self.speak(utterance, speech, self.align(utterance, speech))

    def align(self, utterance: Utterance, speech: Speech) -> tuple[Word, ...]:
        return self._timed("align", lambda: self.aligner.align(speech, utterance.text, utterance.language))

    def speak(self, utterance: Utterance, speech: Speech, words: Sequence[Word]) -> list[Slice]:
        """What follows alignment."""
        text, spans = utterance.text, utterance.spans
        cuts = {"slices": self.slicer.groups} if getattr(self.voice, "assign", None) == "slice" else {}
        voiced = self._timed("voice", lambda: self.voice.transform(utterance, speech, words, self.secret, **cuts))
        masked = mark(text, spans, voiced.words, self.masker.guard_ms / 1000 if voiced.unsaid else None)
        quiet = self._timed("mask", lambda: self.masker.mask(voiced.speech, masked.stretches))
        self._timed("relisten", lambda: refuse_if_heard(self.listener, quiet, text, voiced.words, masked))
        return self._timed("slice", lambda: self.slicer.cut(quiet, text, voiced.words, masked))

    def _timed(self, stage: str, step: Callable[[], Any]) -> Any:
        began = time.process_time()
        try:
            return step()
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - began
