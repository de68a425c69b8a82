"""Listen again with a recogniser that is not the aligner's: what one acoustic model misses, another may hear.

The recogniser writes down what it hears in the masked speech. Words that the kept text explains are set aside; if one of
the others sounds like a removed word (phones differ by at most `tolerance` of their number), that word is still heard.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.masked_words import MaskedWords, text_between
from sottovoce.models.speech.pronounce import Pronouncer
from sottovoce.models.speech.recognise import Recogniser

RATE_HZ = 16_000
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def written_again(
    written: str, text: str, words: Sequence[Word], masked: MaskedWords, tolerance: float
) -> frozenset[int]:
    """Indices of masked words that sound like something a recogniser wrote and the kept text does not explain."""
    kept = _words(text_between(text, 0, len(text), masked.removed))
    extra = _unexplained(_words(written), kept)
    removed = {index: _words(text[words[index].begin : words[index].end]) for index in masked.indices}
    return frozenset(i for i, parts in removed.items() if any(_alike(a, b, tolerance) for a in parts for b in extra))


@dataclass
class Moonshine(Recogniser):
    """Moonshine tiny, whose weights lie inside the package moonshine-voice (MIT): pip install 'sottovoce[asr]'."""

    tolerance: float = 0.25
    _transcriber: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require((0 <= self.tolerance <= 1, "tolerance: must lie in [0, 1]"))

    def setup(self) -> None:
        try:
            import moonshine_voice
            from moonshine_voice.transcriber import Transcriber
        except ImportError:
            raise RunError("relisten: moonshine is not installed; pip install 'sottovoce[asr]'") from None
        folder = moonshine_voice.get_model_path("tiny-en")
        self._transcriber = Transcriber(str(folder), moonshine_voice.ModelArch.TINY)

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        return written_again(self.transcribe(resample(speech, RATE_HZ)), text, words, masked, self.tolerance)

    def ledger(self) -> LedgerEntry:
        return recogniser_ledger("moonshine", self.tolerance)

    def transcribe(self, speech: Speech) -> str:
        """In a stream of its own: `transcribe_without_streaming` begins with the voice activity of the recording before,
        so that one caller's speech puts words ("You", "Thank you") into the transcript of the next."""
        stream = self._transcriber.create_stream(update_interval=0.0)  # what is never updated is dropped by stop()
        try:
            stream.start()
            stream.add_audio(speech.samples.tolist(), speech.rate_hz)
            return " ".join(line.text for line in stream.stop().lines)
        finally:
            stream.close()


@dataclass
class Vosk(Recogniser):
    """Any Vosk model by path (pip install 'sottovoce[asr]'; models from the Vosk project, Apache-2.0)."""

    model: str
    tolerance: float = 0.25
    _model: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require((bool(self.model), "model: give the folder of a Vosk model"))
        require((0 <= self.tolerance <= 1, "tolerance: must lie in [0, 1]"))

    def setup(self) -> None:
        try:
            import vosk
        except ImportError:
            raise RunError("relisten: vosk is not installed; pip install 'sottovoce[asr]'") from None
        vosk.SetLogLevel(-1)
        try:
            self._model = vosk.Model(self.model)
        except Exception:  # noqa: BLE001 - vosk raises a bare Exception
            raise RunError(f"relisten: {self.model} is not the folder of a Vosk model") from None

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        return written_again(self.transcribe(resample(speech, RATE_HZ)), text, words, masked, self.tolerance)

    def ledger(self) -> LedgerEntry:
        return recogniser_ledger("vosk", self.tolerance)

    def transcribe(self, speech: Speech) -> str:
        import vosk

        recogniser = vosk.KaldiRecognizer(self._model, speech.rate_hz)
        recogniser.AcceptWaveform(np.clip(speech.samples * 32767, -32768, 32767).astype(np.int16).tobytes())
        return str(json.loads(recogniser.FinalResult()).get("text", ""))


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("’", "'"))


def _unexplained(heard: Sequence[str], kept: Sequence[str]) -> list[str]:
    """Heard words that have no partner in the kept text, in order."""
    matched = difflib.SequenceMatcher(a=heard, b=kept, autojunk=False).get_matching_blocks()
    explained = {index for block in matched for index in range(block.a, block.a + block.size)}
    return [word for index, word in enumerate(heard) if index not in explained]


def _alike(one: str, other: str, tolerance: float) -> bool:
    if one == other:
        return True
    first, second = _sounds(one), _sounds(other)
    if not first or not second:  # letters that English has no sounds for
        first, second = list(one), list(other)
    return 1 - difflib.SequenceMatcher(a=first, b=second, autojunk=False).ratio() <= tolerance


def _sounds(word: str) -> list[str]:
    return (_pronouncer().pronounce(word, best=1) or [""])[0].split()


@functools.cache
def _pronouncer() -> Pronouncer:
    return Pronouncer()


def recogniser_ledger(mechanism: str, tolerance: float) -> LedgerEntry:
    """What every recogniser that writes down what it hears says of itself; only name and tolerance differ."""
    return LedgerEntry(
        stage="relisten",
        mechanism=mechanism,
        says="Masked speech is written down by a recogniser that had no part in the masking; an utterance in which "
        "a removed word is still heard is refused.",
        not_protected=("what the recogniser does not hear, or writes as another word",),
        parameters={"tolerance": tolerance},
    )
