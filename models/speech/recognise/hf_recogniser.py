"""Any speech recogniser of transformers (Whisper, wav2vec2 ...), by hub name or path, as a listener and as a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.recognise import Recogniser
from sottovoce.models.speech.recognise.recognisers import RATE_HZ, recogniser_ledger, written_again


@dataclass
class HuggingFace(Recogniser):
    """`model` is what transformers would load; `tolerance`: how unlike a masked word may be that still counts as heard."""

    model: str
    tolerance: float = 0.25
    device: str = "cpu"
    _pipeline: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require((bool(self.model), "model: give a hub name or a path"))
        require((0 <= self.tolerance <= 1, "tolerance: must lie in [0, 1]"))

    def setup(self) -> None:
        try:
            from transformers import pipeline
        except ImportError:
            raise RunError("relisten: transformers is not installed; pip install 'sottovoce[neural]'") from None
        try:
            self._pipeline = pipeline(
                "automatic-speech-recognition", model=self.model, device=self.device, trust_remote_code=False
            )
        except (OSError, ValueError):
            raise RunError(f"relisten: {self.model} is not the hub name or folder of a speech recogniser") from None

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        return written_again(self.transcribe(speech), text, words, masked, self.tolerance)

    def transcribe(self, speech: Speech) -> str:
        sound = {"raw": resample(speech, RATE_HZ).samples, "sampling_rate": RATE_HZ}
        return str(self._pipeline(sound)["text"])

    def ledger(self) -> LedgerEntry:
        return recogniser_ledger("hf", self.tolerance)
