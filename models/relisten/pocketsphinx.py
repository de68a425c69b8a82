"""Listen again with pocketsphinx: does the speech still fit better with a removed word in it than without?

A grammar holds the kept words in order. Where words were removed it offers a choice: nothing, a removed word, or its first
or last half, for a mask that lies half beside a word leaves half of it. Each word is said as the aligner heard it, phone by
phone. What the decoder chooses is what is still heard. It shares the aligner's acoustic model, so it catches masks that lie in
the wrong place, not sounds that this model never hears.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.audio import Speech, resample
from sottovoce.models.masked_words import MaskedWords
from sottovoce.models.pronounce import Pronouncer
from sottovoce.models.records import LedgerEntry, Word
from sottovoce.models.settings import require

RATE_HZ = 16_000
MIN_HALF_PHONES = 2
ARPABET = re.compile(r"[A-Z]{1,2}")
Transition = tuple[int, int, float] | tuple[int, int, float, str]


@dataclass
class PocketSphinxListener:
    """`prior` is the weight of a removed word before listening: higher hears more, and more that is not there."""

    prior: float = 0.1
    skip: float = 1e-6
    _decoder: Any = field(default=None, init=False, repr=False)
    _pronouncer: Pronouncer | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require(
            (0 < self.prior < 1, "prior: must lie between 0 and 1"),
            (0 < self.skip < 1, "skip: must lie between 0 and 1"),
        )

    def setup(self) -> None:
        import pocketsphinx

        self._decoder = pocketsphinx.Decoder(
            hmm=pocketsphinx.get_model_path("en-us/en-us"),
            dict=None,
            lm=None,
            beam=1e-120,
            wbeam=1e-100,
            pbeam=1e-120,
            bestpath=False,
            loglevel="FATAL",
        )

    def heard(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> frozenset[int]:
        owners: dict[str, set[int]] = {}
        transitions: list[Transition] = []
        for index, word in enumerate(words):
            phones = self._phones(text, word)
            if index not in masked.indices:
                transitions.append((index, index + 1, 1 - self.skip, self._sound(phones)))
                transitions.append((index, index + 1, self.skip))  # a shifted mask may have wiped out a kept word
                continue
            transitions.append((index, index + 1, 1 - self.prior))
            for part in _parts(phones):
                name = self._sound(part, "removed")
                owners.setdefault(name, set()).add(index)
                transitions.append((index, index + 1, self.prior, name))
        if not owners:
            return frozenset()
        return frozenset(
            index for name in self._decode(speech, transitions, len(words)) for index in owners.get(name, ())
        )

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="relisten",
            mechanism="pocketsphinx",
            says="Masked speech is listened to again; an utterance in which a removed word is still heard is refused.",
            not_protected=("a remainder of a word that is too short for the recogniser to tell from a breath",),
            parameters={"prior": self.prior, "skip": self.skip},
            assumptions=("it shares its acoustic model with the pocketsphinx aligner",),
        )

    def _phones(self, text: str, word: Word) -> list[str]:
        labels = [phone.label for phone in word.phones]
        if labels and all(ARPABET.fullmatch(label) for label in labels):
            return [label for label in labels if label != "SIL"]
        self._pronouncer = self._pronouncer or Pronouncer()
        guesses = self._pronouncer.pronounce(re.sub(r"[^a-z']", "", text[word.begin : word.end].lower()))
        return guesses[0].split() if guesses else []

    def _sound(self, phones: Sequence[str], kind: str = "kept") -> str:
        """A word of the decoder's dictionary that sounds like this."""
        name = f"{kind}_{'_'.join(phones)}"
        if self._decoder.lookup_word(name) is None:
            self._decoder.add_word(name, " ".join(phones), update=False)
        return name

    def _decode(self, speech: Speech, transitions: Sequence[Transition], final: int) -> list[str]:
        decoder = self._decoder
        samples = resample(speech, RATE_HZ).samples.astype(np.float64)
        # A tiny constant hiss: exact zeros have no logarithm, and a mask of silence is exactly that.
        hiss = np.random.default_rng(0).normal(0, 2e-5, len(samples))
        pcm = np.clip(np.round((samples + hiss) * 32767), -32768, 32767).astype(np.int16).tobytes()
        decoder.add_fsg("masked", decoder.create_fsg("masked", 0, final, list(transitions)))
        decoder.reinit_feat()
        decoder.activate_search("masked")
        decoder.start_utt()
        decoder.process_raw(pcm, full_utt=True)
        decoder.end_utt()
        return [segment.word for segment in decoder.seg()] if decoder.hyp() is not None else []


def _parts(phones: Sequence[str]) -> Iterator[Sequence[str]]:
    """The whole word and, where they are long enough to tell anything, its halves."""
    if not phones:
        return
    yield phones
    half = len(phones) // 2
    if half >= MIN_HALF_PHONES:
        yield phones[:-half]
        yield phones[half:]
