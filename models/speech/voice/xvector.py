"""Pseudo-speakers chosen by x-vector, in every way of the design study, spoken by the phonetic voice.

Srivastava et al., "Design choices for x-vector based speaker anonymization", Interspeech 2020: besides the choices that look
at nothing of the source, the target may be near to it or far from it, which takes a speaker encoder, and the source's
pitch may be kept or fitted to the target's. As in the study, all of the source's rhythm and melody is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.voice.phonetic import Analysed, Phonetic
from sottovoce.models.speech.voice.pitch import PitchMap, target_quantiles
from sottovoce.models.speech.voice.pseudo_speaker import draw_key
from sottovoce.models.speech.voice.say_phones import PseudoVoice


@dataclass(frozen=True)
class XVector(Phonetic):
    """`encoder` must be the one that the pool was built with; it is used for proximity near and far only."""

    prosody: float = 0.0
    pitch: PitchMap = "percentile"
    encoder: str = "campplus"
    looks_at_source: ClassVar[bool] = True

    def setup(self) -> None:
        super().setup()
        if self.needs_source_embedding:
            self._parts["encoder"] = read_spec("speakers", self.encoder).make()
            self._parts["encoder"].setup()

    def _pseudo_speaker(self, heard: Analysed, secret: Secret, *slice_number: str) -> PseudoVoice:
        source = self._parts["encoder"].embed(heard.speech) if self.needs_source_embedding else None
        pool = self._parts["pool"]
        if source is not None and len(source) != pool.embedding.shape[1]:
            raise RunError(
                f"voice: {self.encoder} gives {len(source)} dimensions and the pool has {pool.embedding.shape[1]}; "
                "choose the encoder that the pool was built with"
            )
        key = (*draw_key(heard.utterance, self.assign), *slice_number)
        weights = self._parts["pseudo_speakers"].draw(secret, key, source, heard.utterance.gender)
        voice = PseudoVoice.of(pool, weights)
        return replace(voice, log_f0_quantiles=target_quantiles(self.pitch, voice.log_f0_quantiles, heard.features))

    def ledger(self) -> LedgerEntry:
        entry = super().ledger()
        left = entry.not_protected
        if self.pitch == "none":
            left = ("the height of the voice, which is the source's own", *left)
        if self.needs_source_embedding:
            left = (
                f"a target {self.proximity} the source tells something of it: whoever knows the pool can use that",
                *left,
            )
        return replace(entry, mechanism="xvector", not_protected=left)
