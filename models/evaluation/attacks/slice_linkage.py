"""Can released slices be put back together? Scores pairs of slices by how likely the second follows the first.

COMPRISE D2.3, section 4.3. The attacker has text, from which a 3-gram model tells how well the words of one slice continue
the other's: texts of its own, or else the other half of the corpus. It has recordings cut in the same way, on which it
learns to weigh what it hears: likeness of voice, of background, and continuity at the edges. Mated pairs are neighbours
in one utterance; non-mated pairs come from different utterances. Every score is given to utterances that the attacker did
not learn from (two folds).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.attacks.sound import SoundPrint, edge_distance, sound_print
from sottovoce.models.evaluation.attacks.trigrams import Trigrams
from sottovoce.models.evaluation.attacks.two_kinds import learn_to_tell
from sottovoce.models.speech.audio import Speech

CONTEXT_WORDS = 2
TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[.,;:!?]")  # where a sentence ends is told by its marks as much as by words
Pair = tuple[int, int]
Encoder = Callable[[Speech], np.ndarray]


@dataclass(frozen=True, slots=True, repr=False)
class TracedSlice:
    """A released slice with what only the evaluation knows: its utterance and its place in it."""

    text: str
    utterance: int
    place: int
    speech: Speech | None = None


@dataclass(frozen=True, slots=True)
class PairScores:
    """Scores of mated and non-mated pairs under one kind of evidence."""

    mated: np.ndarray
    non_mated: np.ndarray


def pairs_of(
    pieces: Sequence[TracedSlice], rng: np.random.Generator, per_mated: int = 5
) -> tuple[list[Pair], list[Pair]]:
    """(neighbours, pairs from different utterances of the same fold), the latter `per_mated` times as many."""
    at = {(piece.utterance, piece.place): index for index, piece in enumerate(pieces)}
    mated = [
        (index, at[piece.utterance, piece.place + 1])
        for index, piece in enumerate(pieces)
        if (piece.utterance, piece.place + 1) in at
    ]
    other: list[Pair] = []
    for fold in (0, 1):
        strangers = np.array([i for i, piece in enumerate(pieces) if fold_of(piece) == fold])
        if len({pieces[i].utterance for i in strangers}) < 2:
            continue
        for first, _ in mated:
            if fold_of(pieces[first]) == fold:
                other += _draw(pieces, first, strangers, rng, per_mated)
    return mated, other


def _draw(
    pieces: Sequence[TracedSlice], first: int, among: np.ndarray, rng: np.random.Generator, count: int
) -> list[Pair]:
    found: list[Pair] = []
    while len(found) < count:
        second = int(rng.choice(among))
        if pieces[second].utterance != pieces[first].utterance:
            found.append((first, second))
    return found


def fold_of(piece: TracedSlice) -> int:
    """0 or 1, the same for all slices of an utterance: who is learnt from in one fold is scored in the other."""
    return piece.utterance % 2


def text_scores(
    pieces: Sequence[TracedSlice],
    mated: Sequence[Pair],
    other: Sequence[Pair],
    texts: Sequence[str] = (),
    dropped_words: int = 0,
) -> PairScores:
    """log P(begin of second | end of first) - log P(begin of second), by a model of `texts` or of the other fold's texts.

    How likely the begin is by itself says nothing about who stood before it. The attacker knows if words were dropped
    between slices, and then adds up what the end of the first foretells about each word behind that gap.
    """
    gaps = range(dropped_words, dropped_words + CONTEXT_WORDS) if dropped_words else (0,)

    def models_of(sentences: Sequence[Sequence[str]]) -> list[Trigrams]:
        return [Trigrams(sentences, gap) for gap in gaps]

    if texts:
        own = models_of([_tokens(text) for text in texts])
        models = {0: own, 1: own}
    else:
        models = {fold: models_of(_whole_texts(pieces, 1 - fold)) for fold in (0, 1)}

    def score(pair: Pair) -> float:
        first, second = pieces[pair[0]], pieces[pair[1]]
        begin, end = _tokens(second.text)[:CONTEXT_WORDS], _tokens(first.text)[-CONTEXT_WORDS:]
        model = models[fold_of(first)]
        if not dropped_words:
            return _foretold(model[0], begin, end)
        return sum(_foretold(behind, [word], end) for word, behind in zip(begin, model, strict=False))

    return PairScores(np.array([score(pair) for pair in mated]), np.array([score(pair) for pair in other]))


def _foretold(model: Trigrams, words: Sequence[str], context: Sequence[str]) -> float:
    return model.log_probability(words, context) - model.log_probability(words, [])


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text.lower().replace("’", "'"))


def _whole_texts(pieces: Sequence[TracedSlice], fold: int) -> list[list[str]]:
    """Texts of whole utterances: the attacker's text of the domain was never cut."""
    texts: dict[int, list[str]] = {}
    for piece in sorted(pieces, key=lambda piece: (piece.utterance, piece.place)):
        if fold_of(piece) == fold:
            texts.setdefault(piece.utterance, []).extend(_tokens(piece.text))
    return list(texts.values())


def speech_scores(
    pieces: Sequence[TracedSlice], mated: Sequence[Pair], other: Sequence[Pair], encoder: Encoder | None = None
) -> PairScores:
    """Log odds of a logistic regression over the sounds of both slices, learned on the other fold."""
    heard = [sound_print(piece.speech) if piece.speech is not None else None for piece in pieces]
    voices = [encoder(piece.speech) if encoder and piece.speech is not None else None for piece in pieces]

    def evidence(pair: Pair) -> np.ndarray:
        first, second = heard[pair[0]], heard[pair[1]]
        assert first is not None and second is not None, "speech is needed to score it"
        return _evidence(first, second, voices[pair[0]], voices[pair[1]])

    return _learned(
        pieces, mated, other, np.array([evidence(p) for p in mated]), np.array([evidence(p) for p in other])
    )


def combined(
    pieces: Sequence[TracedSlice], mated: Sequence[Pair], other: Sequence[Pair], *scores: PairScores
) -> PairScores:
    """All evidence together, weighed on the other fold."""
    return _learned(
        pieces,
        mated,
        other,
        np.stack([score.mated for score in scores], axis=1),
        np.stack([score.non_mated for score in scores], axis=1),
    )


def _evidence(first: SoundPrint, second: SoundPrint, voice: np.ndarray | None, other: np.ndarray | None) -> np.ndarray:
    features = [
        float(np.abs(first.mean - second.mean).mean()),
        float(np.abs(first.spread - second.spread).mean()),
        float(np.abs(first.floor - second.floor).mean()),
        abs(first.level - second.level),
        edge_distance(first, second),
    ]
    if voice is not None and other is not None:
        features.append(-float(voice @ other / (np.linalg.norm(voice) * np.linalg.norm(other) + 1e-9)))
    return np.array(features)


def _learned(
    pieces: Sequence[TracedSlice],
    mated: Sequence[Pair],
    other: Sequence[Pair],
    linked: np.ndarray,
    non_mated: np.ndarray,
) -> PairScores:
    folds = [np.array([fold_of(pieces[first]) for first, _ in pairs]) for pairs in (mated, other)]
    out = [np.zeros(len(mated)), np.zeros(len(other))]
    for fold in (0, 1):
        log_odds = learn_to_tell(linked[folds[0] != fold], non_mated[folds[1] != fold])
        for index, features in enumerate((linked, non_mated)):
            chosen = folds[index] == fold
            if chosen.any():
                out[index][chosen] = log_odds(features[chosen])
    return PairScores(*out)
