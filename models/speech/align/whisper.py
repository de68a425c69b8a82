"""Alignment in many languages with Whisper base: where its decoder looks while it is made to write the text.

The steps between cross-attentions are found by dynamic time warping (CTranslate2). Whether the text is what was said: how
much likelier its words are with the speech than with silence. A guess from grammar alone is as likely in silence, so
that a common word that was not said gains nothing. docs/languages.md has the borders' errors and what is refused.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Phone, Word
from sottovoce.models.settings import require
from sottovoce.models.speech import whisper
from sottovoce.models.speech.align.readings import NothingSpoken
from sottovoce.models.speech.align.refusals import AlignmentFailed, AlignmentMismatch, LanguageNotAligned
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.ipa import VOWELS, phones_of_word
from sottovoce.models.text.language import code_of

_WORD = re.compile(r"[^\W_](?:\S*[^\W_])?")
_LEAST = 1e-9
_LATE_S = 0.03  # the decoder looks at a word this much before it sounds: median over German by espeak-ng


@dataclass
class Whisper:
    """`floor`: mean gain over silence of a token, in nats; `word_floor`: of the worst word as a whole. `reach_s`: borders are
    known to a few hundredths of a second only, so a word also takes this much on both sides. `phones`: what each word sounds
    like to the phone network (`ipa.py`), its sounds spread over its time, for a voice that speaks from phones."""

    floor: float = 1.0
    word_floor: float = -1.0
    reach_s: float = 0.05
    phones: bool = False
    _network: Any = field(default=None, init=False, repr=False)
    _silence: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require((0 <= self.reach_s <= 0.5, "reach_s: must lie in [0, 0.5]"))

    def setup(self) -> None:
        self._network = whisper.Whisper()
        self._silence = self._network.encode(Speech(np.zeros(whisper.RATE_HZ, np.float32), whisper.RATE_HZ))

    def align(self, speech: Speech, text: str, language: str | None = None) -> tuple[Word, ...]:
        code = code_of(language or "")
        if not code or not self._network.knows(code):
            raise LanguageNotAligned
        if speech.duration_s > whisper.LONGEST_S:
            raise AlignmentFailed
        places = [match.span() for match in _WORD.finditer(text)]
        if not places:
            raise NothingSpoken
        tokens = [self._network.tokens(f" {text[begin:end]}") for begin, end in places]
        edges = np.cumsum([0, *map(len, tokens)])
        flat = [token for own in tokens for token in own]
        found = self._network.align(self._network.encode(speech), flat, code, speech.duration_s)
        gains = self._gains(found, flat, code, speech.duration_s)
        words = [float(gains[a:b].sum()) for a, b in itertools.pairwise(edges)]
        if gains.mean() < self.floor or min(words) < self.word_floor:
            raise AlignmentMismatch
        times = _times(found.alignments, len(flat), speech.duration_s)
        return tuple(
            self._word(place, times[a], times[b], gain, speech.duration_s, self._sounds(text[slice(*place)], code))
            for place, a, b, gain in zip(places, edges, edges[1:], words, strict=False)
        )

    def _sounds(self, word: str, code: str) -> tuple[str, ...]:
        return phones_of_word(word, code) if self.phones else ()

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="align",
            mechanism="whisper",
            says="Each word of the transcript is located in the speech by where Whisper base looks while it writes it; where the "
            "speech does not make the transcript likelier, the utterance is refused.",
            not_protected=(
                "words that are said but not written: they are not looked for",
                "borders are less exact than those of an acoustic model of the language",
            ),
            parameters={
                "floor": self.floor,
                "word_floor": self.word_floor,
                "reach_s": self.reach_s,
                "phones": self.phones,
            },
        )

    def _gains(self, found: Any, flat: list[int], code: str, duration_s: float) -> np.ndarray:
        guessed = self._network.align(self._silence, flat, code, duration_s)
        with_speech, without = (np.asarray(item.text_token_probs, dtype=np.float64) for item in (found, guessed))
        return np.log(np.maximum(with_speech, _LEAST)) - np.log(np.maximum(without, _LEAST))

    def _word(
        self,
        place: tuple[int, int],
        begin_s: float,
        end_s: float,
        gain: float,
        duration_s: float,
        sounds: tuple[str, ...],
    ) -> Word:
        phones = _spread(sounds, begin_s, end_s)
        begin_s, end_s = max(0.0, begin_s - self.reach_s), min(duration_s, end_s + self.reach_s)
        return Word(*place, begin_s, end_s, 1 / (1 + math.exp(-gain)), phones)


def _spread(sounds: tuple[str, ...], begin_s: float, end_s: float) -> tuple[Phone, ...]:
    """Sounds one after the other, a vowel half as long again as a consonant: nothing tells where they really stand."""
    shares = np.cumsum([0.0, *(1.5 if sound in VOWELS else 1.0 for sound in sounds)])
    borders = begin_s + (end_s - begin_s) * shares / max(shares[-1], 1.0)
    return tuple(Phone(sound, float(a), float(b)) for sound, a, b in zip(sounds, borders, borders[1:], strict=False))


def _times(pairs: list[tuple[int, int]], tokens: int, duration_s: float) -> list[float]:
    """When each token begins, and when the last one ends."""
    begins: dict[int, float] = {}
    for token, step in pairs:
        begins.setdefault(token, min(step * whisper.TOKEN_S + _LATE_S * (token > 0), duration_s))
    return [begins.get(at, duration_s) for at in range(tokens + 1)]
