"""Whether released slices can be put back together: the linkage attack over slices of several lengths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.attacks import slice_linkage
from sottovoce.models.evaluation.attacks.slice_linkage import Encoder, TracedSlice
from sottovoce.models.evaluation.metrics.linkability import measured
from sottovoce.models.records import Word
from sottovoce.models.speech.chain import SpeechChain
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.slice import Slicer, text_of
from sottovoce.models.speech.spoken import Spoken
from sottovoce.pipelines.local.mask_batch import tokens

MIN_PAIRS = 20


def cut_texts(slicer: Slicer, texts: Sequence[str], seconds_per_word: float) -> Iterator[TracedSlice]:
    """Slices of texts alone, as if every word lasted `seconds_per_word`."""
    nothing = MaskedWords(frozenset(), (), ())
    for utterance, text in enumerate(texts):
        words = [
            Word(word.begin, word.end, place * seconds_per_word, (place + 1) * seconds_per_word, 1.0)
            for place, word in enumerate(tokens(text))
        ]
        for place, group in enumerate(slicer.groups(words, nothing)):
            yield TracedSlice(text_of(text, words, group, nothing), utterance, place)


def protected(chain: SpeechChain, loaded: Iterable[Spoken]) -> list[Spoken]:
    """Speech as a run would cut it; what is refused on the way is left out, as in a run."""
    out = []
    for spoken in loaded:
        try:
            out.append(chain.protected(spoken))
        except Refusal:
            continue
    return out


def cut_speech(chain: SpeechChain, spoken: Sequence[Spoken]) -> Iterator[TracedSlice]:
    """Slices with the number and place that the linkage attack needs; a refused utterance keeps its number and has none."""
    for number, item in enumerate(spoken):
        try:
            slices = chain.cut(item)
        except Refusal:
            continue
        for place, piece in enumerate(slices):
            yield TracedSlice(piece.text, number, place, piece.speech)


def linkage(
    pieces: Sequence[TracedSlice],
    encoder: Encoder | None = None,
    texts: Sequence[str] = (),
    dropped_words: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """D_sys with interval and the level of chance, for text, for speech, and for both together."""
    mated, other = slice_linkage.pairs_of(pieces, np.random.default_rng(seed))
    figures: dict[str, Any] = {"slices": len(pieces), "neighbouring pairs": len(mated)}
    if len(mated) < MIN_PAIRS:
        return figures | {"linkability": f"not measured: fewer than {MIN_PAIRS} neighbouring pairs"}
    scores = {"text": slice_linkage.text_scores(pieces, mated, other, texts, dropped_words)}
    if all(piece.speech is not None for piece in pieces):
        scores["speech"] = slice_linkage.speech_scores(pieces, mated, other, encoder)
        scores["text and speech"] = slice_linkage.combined(pieces, mated, other, *scores.values())
    for name, found in scores.items():
        result = measured(found.mated, found.non_mated)
        figures[f"linkability by {name}"] = (
            f"{result.value:.3f} ({result.low:.3f} to {result.high:.3f}); by chance {result.chance:.3f}"
        )
    return figures
