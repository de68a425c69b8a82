"""Listen again with pocketsphinx: does the speech still fit better with a removed word in it than without?

A grammar holds the kept words in order. Where words were removed it offers a choice: nothing, a removed word, or its first
or last half, for a mask that lies half beside a word leaves half of it. Each word is said as the aligner heard it, phone by
phone. What the decoder chooses is still heard if it also fits nearly as well as a free loop over all phones: a decoder that
has only these words to choose from takes one for a breath. It shares the aligner's acoustic model, so it catches masks that
lie in the wrong place, not sounds that this model never hears.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Word
from sottovoce.models.settings import require
from sottovoce.models.speech import sphinx
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.pronounce import Pronouncer
from sottovoce.models.speech.sphinx import FRAMES_PER_S, RATE_HZ

FRAME = 512
FAINT = 2e-5
ABOVE_BACKGROUND = 8.0
REMOVED = "removed"
MIN_HALF_PHONES = 2
Transition = tuple[int, int, float] | tuple[int, int, float, str]


class SoundUnknown(Refusal):
    code = "sound_unknown"
    allowed = "removed words of which the aligner gives the phones, or letters that can be pronounced"


@dataclass
class PocketSphinxListener:
    """A removed word counts as heard if `min_frames` (of 10 ms) of it lie outside the masks and above the background.

    It must also fit: `fit_floor` is in nats per frame against the free loop. `guard_ms` is the masker's guard band, which
    belongs to the masks. `prior` is the weight of a removed word before listening, `skip` that of a kept word's absence.
    docs/speech.md shows how the first two were chosen.
    """

    min_frames: int = 6
    fit_floor: float = -3.0
    guard_ms: float = 30.0
    prior: float = 0.1
    skip: float = 1e-6
    _decoder: Any = field(default=None, init=False, repr=False)
    _pronouncer: Pronouncer | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require(
            (0 < self.prior < 1, "prior: must lie between 0 and 1"),
            (0 < self.skip < 1, "skip: must lie between 0 and 1"),
            (1 <= self.min_frames <= 50, "min_frames: must lie in [1, 50]"),
            (self.fit_floor <= 0, "fit_floor: must be at most 0"),
            (0 <= self.guard_ms <= 1000, "guard_ms: must lie in [0, 1000]"),
        )

    def setup(self) -> None:
        self._decoder = sphinx.new_decoder(dictionary=False, beam=1e-120, word_beam=1e-100)

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        transitions, owners = self._grammar(text, words, masked)
        guard_s = self.guard_ms / 1000
        masks = [(max(0.0, begin_s - guard_s), end_s + guard_s) for begin_s, end_s in masked.stretches]
        samples = with_background(resample(speech, RATE_HZ).samples, masks)
        sounding = _sounding(samples, masks)
        pcm = sphinx.pcm_of(Speech(samples, RATE_HZ))
        self._decoder.add_fsg("masked", self._decoder.create_fsg("masked", 0, len(words), transitions))
        sphinx.decode(self._decoder, "masked", pcm)
        found = sphinx.segments(self._decoder) if self._decoder.hyp() is not None else []
        chosen = [s for s in found if s[0] in owners and sounding[s[1] : s[2]].sum() >= self.min_frames]
        if not chosen:
            return frozenset()
        free = sphinx.free_scores(self._decoder, pcm)
        fits = [(name, (score - free[a:b].sum()) * sphinx.NATS / (b - a)) for name, a, b, score in chosen]
        return frozenset(index for name, fit in fits if fit >= self.fit_floor for index in owners[name])

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="relisten",
            mechanism="pocketsphinx",
            says="Masked speech is listened to again, unless the voice never spoke the words; "
            "an utterance in which a removed word is still heard is refused.",
            not_protected=("a remainder of a word that is too short for the recogniser to tell from a breath",),
            parameters={"min_frames": self.min_frames, "fit_floor": self.fit_floor, "guard_ms": self.guard_ms},
            assumptions=("it shares its acoustic model with the pocketsphinx aligner",),
        )

    def _grammar(
        self, text: str, words: Sequence[Word], masked: MaskedWords
    ) -> tuple[list[Transition], dict[str, set[int]]]:
        """Transitions from word to word, and which masked words each removed sound belongs to."""
        owners: dict[str, set[int]] = {}
        transitions: list[Transition] = []
        for index, word in enumerate(words):
            phones = self._phones(text, word)
            if index not in masked.indices:
                transitions.append((index, index + 1, self.skip))  # a shifted mask may have wiped out a kept word
                if phones:
                    transitions.append((index, index + 1, 1 - self.skip, self._sound(phones)))
                continue
            if not phones:
                raise SoundUnknown
            transitions.append((index, index + 1, 1 - self.prior))
            for part in _parts(phones):
                name = self._sound(part, REMOVED)
                owners.setdefault(name, set()).add(index)
                transitions.append((index, index + 1, self.prior, name))
        return transitions, owners

    def _phones(self, text: str, word: Word) -> list[str]:
        labels = [phone.label for phone in word.phones if phone.label != "SIL"]
        if labels and set(sphinx.PHONES.split()).issuperset(labels):
            return labels
        self._pronouncer = self._pronouncer or Pronouncer()
        guesses = self._pronouncer.pronounce(re.sub(r"[^a-z']", "", text[word.begin : word.end].lower()))
        return guesses[0].split() if guesses else []

    def _sound(self, phones: Sequence[str], kind: str = "kept") -> str:
        """A word of the decoder's dictionary that sounds like this."""
        name = f"{kind}_{'_'.join(phones)}"
        if self._decoder.lookup_word(name) is None:
            self._decoder.add_word(name, " ".join(phones), update=False)
        return name


def _sounding(samples: np.ndarray, stretches: Sequence[tuple[float, float]]) -> np.ndarray:
    """For each 10 ms whether it lies outside the masks and clearly above the background: noise is no word."""
    frame = RATE_HZ // FRAMES_PER_S
    count = len(samples) // frame
    power = np.square(samples[: count * frame].reshape(count, frame)).mean(axis=1)
    outside = np.ones(count, bool)
    for begin_s, end_s in stretches:
        outside[int(begin_s * FRAMES_PER_S) : int(end_s * FRAMES_PER_S) + 1] = False
    if not outside.any():
        return outside
    background = max(float(np.quantile(power[outside], 0.1)), FAINT**2)
    return outside & (power > max(ABOVE_BACKGROUND * background, 1e-3 * power[outside].max()))


def with_background(samples: np.ndarray, stretches: Sequence[tuple[float, float]]) -> np.ndarray:
    """The speech with its own background in the masked stretches, and wherever a mask left exact zeros.

    Nothing of the word can be inside a mask: every sample there was overwritten. But the step from a mask of zeros, a
    tone or noise back to the room's own noise sounds like a consonant, and would be heard as one.
    """
    out = samples.astype(np.float64)
    masked = out == 0.0
    for begin_s, end_s in stretches:
        masked[int(begin_s * RATE_HZ) : int(end_s * RATE_HZ) + 1] = True
    starts = [at for at in range(0, len(out) - FRAME, FRAME // 2) if not masked[at : at + FRAME].any()]
    if not starts:
        return np.where(masked, np.random.default_rng(0).normal(0, FAINT, len(out)), out)
    frames = np.stack([out[at : at + FRAME] for at in starts]) * np.hanning(FRAME)
    quiet = frames[np.argsort(np.square(frames).sum(axis=1))[: max(2, len(starts) // 10)]]
    power = np.square(np.abs(np.fft.rfft(quiet, axis=1))).mean(axis=0) / np.square(np.hanning(FRAME)).sum()
    # Gaussian noise with the background's spectrum; it stands still, so it cannot sound like a word. It protects nothing.
    white = np.fft.rfft(np.random.default_rng(0).normal(0, 1, len(out)))
    shape = np.sqrt(np.interp(np.linspace(0, 1, len(white)), np.linspace(0, 1, len(power)), power)) + FAINT
    return np.where(masked, np.fft.irfft(white * shape, len(out)), out)


def _parts(phones: Sequence[str]) -> Iterator[Sequence[str]]:
    """The whole word and, where they are long enough to tell anything, its halves."""
    yield phones
    half = len(phones) // 2
    if half >= MIN_HALF_PHONES:
        yield phones[:-half]
        yield phones[half:]
