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
        words = self._timed("align", lambda: self.aligner.align(speech, utterance.text, utterance.language))
        voiced = self._timed("voice", lambda: self.voice.transform(utterance, speech, words, self.secret))
        masked = mark(utterance.text, utterance.spans, voiced.words)
        quiet = self._timed("mask", lambda: self.masker.mask(voiced.speech, masked.stretches))
        self._timed("relisten", lambda: refuse_if_heard(self.listener, quiet, utterance.text, voiced.words, masked))
        return self._timed("slice", lambda: self.slicer.cut(quiet, utterance.text, voiced.words, masked))

    def _timed(self, stage: str, step: Callable[[], Any]) -> Any:
        began = time.process_time()
        try:
            return step()
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - began
