"""How well an aligner finds words, and whether it refuses a text that was not said."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.known_answers.sentences import sentences
from sottovoce.models.evaluation.known_answers.word_times import (
    ESPEAK_VOICES,
    FLITE_VOICES,
    Known,
    speak_espeak,
    speak_flite,
)
from sottovoce.models.evaluation.metrics.proportion import Share
from sottovoce.models.records import Utterance, Word
from sottovoce.models.speech.align import Aligner
from sottovoce.models.speech.audio import Speech, resample

RATE_HZ = 16_000
NONE = Share(0, 0)
MISMATCHES = ("another utterance's text", "one word replaced", "one word added", "one word left out")


@dataclass(frozen=True)
class KnownSpeech:
    """Known speech, and which of its words count as sensitive."""

    known: Known
    sensitive: frozenset[int]
    voice: str


@dataclass
class BorderErrors:
    """How far word borders were off, in seconds and signed, and how many of the `spoken` utterances were refused."""

    errors_s: list[float] = field(default_factory=list)
    refused: int = 0
    spoken: int = 0

    def summary(self) -> dict[str, Any]:
        """For the report: refusals, median and 95th percentile of the error, share of borders within 50 ms of the truth."""
        values = np.abs(self.errors_s) * 1000
        return {
            "words": len(values) // 2,
            "refused": str(Share(self.refused, self.spoken)),
            "median_ms": round(float(np.median(values)), 1),
            "p95_ms": round(float(np.percentile(values, 95)), 1),
            "within_50_ms": round(float(np.mean(values <= 50)), 4),
        }


def spoken_sentences(count: int, synthesiser: str, seed: int = 0) -> Iterator[KnownSpeech]:
    """`count` sentences, voices in turn. A seed of known public value: nothing here is anybody's speech."""
    rng = np.random.default_rng(seed)
    voices = FLITE_VOICES if synthesiser == "flite" else ESPEAK_VOICES
    for index, (words, sensitive) in enumerate(sentences(count, seed)):
        voice = voices[index % len(voices)]
        known = speak_flite(words, voice) if synthesiser == "flite" else speak_espeak(words, voice, rng)
        yield KnownSpeech(known, sensitive, voice)


def border_errors(aligner: Aligner, spoken: Sequence[KnownSpeech]) -> BorderErrors:
    """Begin and end of every word against the truth; of the first and last word only the inner border.

    Silence before a plosive sounds like its closure: the outer borders of an utterance say nothing about aligning.
    """
    result = BorderErrors()
    for item in spoken:
        result.spoken += 1
        try:
            words = aligner.align(item.known.speech, item.known.text)
        except Refusal:
            result.refused += 1
            continue
        pairs = list(zip(words, item.known.words, strict=True))
        result.errors_s += [found.begin_s - true.begin_s for found, true in pairs[1:]]
        result.errors_s += [found.end_s - true.end_s for found, true in pairs[:-1]]
    return result


def mismatches(
    aligner: Aligner, items: Sequence[tuple[Speech, str]], sensitive: Sequence[frozenset[int]] = (), seed: int = 0
) -> dict[str, Share]:
    """Share of utterances refused: with their own text (false alarms) and with texts that were not said.

    Where the `sensitive` words are known, also with all of them left out: names that are said but not written.
    """
    rng = random.Random(seed)
    vocabulary = sorted({word for _, text in items for word in text.lower().split()})
    refused: dict[str, Share] = {}
    for index, (speech, text) in enumerate(items):
        other = items[(index + 1 + len(items) // 3) % len(items)][1]
        tries = list(_variants(text, other, vocabulary, rng))
        if sensitive:
            kept = [word for at, word in enumerate(text.split()) if at not in sensitive[index]]
            tries += [("the sensitive words left out", " ".join(kept))] if kept else []
        for kind, tried in tries:
            refused[kind] = refused.get(kind, NONE) + Share(int(not accepts(aligner, speech, tried)), 1)
    return refused


def accepts(aligner: Aligner, speech: Speech, text: str) -> bool:
    """Whether the aligner finds the text in the speech; a refusal is an answer here."""
    try:
        return bool(aligner.align(speech, text))
    except Refusal:
        return False


def joined(recordings: Sequence[tuple[Speech, str, str]], seed: int = 0) -> Iterator[tuple[Known, frozenset[int]]]:
    """Three recordings of one speaker in a row: the words of the middle one are sensitive, and its place is known.

    The true time of each middle word is unknown; all of them get the whole of their recording's speech as theirs.
    """
    by_speaker: dict[str, list[tuple[Speech, str]]] = {}
    for speech, text, speaker in recordings:
        by_speaker.setdefault(speaker, []).append((resample(speech, RATE_HZ), text))
    rng = random.Random(seed)
    for clips in by_speaker.values():
        rng.shuffle(clips)
        for first in range(0, len(clips) - 2, 3):
            yield _three(clips[first : first + 3])


def load_recordings(utterances: Sequence[Utterance], load: Any) -> list[tuple[Speech, str, str]]:
    """(speech, text, speaker) of every utterance that can be read."""
    found = []
    for utterance in utterances:
        try:
            speech = load(utterance)
        except Refusal:
            continue
        found.append((speech, utterance.text, utterance.speaker_id or utterance.id))
    return found


def _variants(text: str, other: str, vocabulary: list[str], rng: random.Random) -> Iterator[tuple[str, str]]:
    words = text.split()
    at = rng.randrange(len(words))
    stranger = rng.choice([word for word in vocabulary if word != words[at].lower()])
    yield "own text", text
    if other.lower() != text.lower():
        yield MISMATCHES[0], other
    yield MISMATCHES[1], " ".join([*words[:at], stranger, *words[at + 1 :]])
    yield MISMATCHES[2], " ".join([*words[:at], stranger, *words[at:]])
    if len(words) > 1:
        yield MISMATCHES[3], " ".join([*words[:at], *words[at + 1 :]])


def _three(clips: Sequence[tuple[Speech, str]]) -> tuple[Known, frozenset[int]]:
    samples = np.concatenate([speech.samples for speech, _ in clips])
    begins = np.cumsum([0, *(len(speech.samples) for speech, _ in clips)])
    words: list[Word] = []
    text, sensitive = "", set()
    for index, (speech, said) in enumerate(clips):
        loud = _sounding(speech)
        begin_s, end_s = (begins[index] + loud[0]) / RATE_HZ, (begins[index] + loud[1]) / RATE_HZ
        for token in said.split():
            sensitive |= {len(words)} if index == 1 else set()
            words.append(Word(len(text), len(text) + len(token), begin_s, end_s, 1.0))
            text += token + " "
    return Known(Speech(samples, RATE_HZ), text.rstrip(), tuple(words)), frozenset(sensitive)


def _sounding(speech: Speech) -> tuple[int, int]:
    """First and last sample of a clip that is clearly above its background."""
    loud = np.flatnonzero(sounding_frames(speech.samples, speech.rate_hz))
    frame = speech.rate_hz // 100
    return int(loud[0]) * frame, int(loud[-1] + 1) * frame


def sounding_frames(samples: np.ndarray, rate_hz: int) -> np.ndarray:
    """For each 10 ms whether it is clearly above the background."""
    frame = rate_hz // 100
    count = len(samples) // frame
    power = np.square(samples[: count * frame].reshape(count, frame), dtype=np.float64).mean(axis=1)
    return power > max(np.quantile(power, 0.1) * 8, power.max() * 1e-3)
