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
from sottovoce.models.speech.masked_words import mark, with_misfits

RATE_HZ = 16_000
NONE = Share(0, 0)
MISMATCHES = ("another utterance's text", "one word replaced", "one word added", "one word missing")
COVERED = 0.8  # of a missing word's time


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
    """What becomes of utterances with their own text (false alarms: refused, or of the others words lost), and with texts that
    were not said: caught is what is refused, or has the wrong words, or the place of those that are missing, left out.

    Where the `sensitive` words are known, also with all of them missing: names that are said but not written.
    """
    rng = random.Random(seed)
    vocabulary = sorted({word for _, text in items for word in text.lower().split()})
    found: dict[str, Share] = {}
    for index, (speech, text) in enumerate(items):
        own = _aligned(aligner, speech, text)
        lost, count = (len(with_misfits(own, ())), len(own)) if own else (1, 1)
        _add(found, "own text: refused", lost == count)
        if lost < count:
            found["own text: words lost"] = found.get("own text: words lost", NONE) + Share(lost, count)
        tries = list(_variants(text, items[(index + 1 + len(items) // 3) % len(items)][1], vocabulary, rng))
        if sensitive:
            kept = [word for at, word in enumerate(text.split()) if at not in sensitive[index]]
            tries += [Wrong("the sensitive words missing", " ".join(kept), missing=sensitive[index])] if kept else []
        for wrong in tries:
            words = _aligned(aligner, speech, wrong.text)
            _add(found, f"caught: {wrong.kind}", words is None or wrong.left_out(words, own, text))
    return found


@dataclass(frozen=True)
class Wrong:
    """A text that was not said: the word `at` is wrong in it, or all are; `missing`: which of the words that were said."""

    kind: str
    text: str
    at: int | None = None
    missing: frozenset[int] = frozenset()

    def left_out(self, words: Sequence[Word], own: Sequence[Word] | None, said: str) -> bool:
        """Whether nothing wrong is left of text and sound. `own`: the words of what was `said`, which tell where the missing
        ones are; nobody knows where the aligner refuses that, too."""
        gone = mark(self.text, with_misfits(words, ()), words)
        if len(gone.indices) == len(words) or (self.at is None and not self.missing):
            return len(gone.indices) == len(words)
        if any(self.at in _tokens(self.text, word) for i, word in enumerate(words) if i not in gone.indices):
            return False
        places = [word for word in own or () if self.missing & _tokens(said, word)]
        covered = all(sum(_shared(place, stretch) for stretch in gone.stretches) >= COVERED for place in places)
        return covered and bool(places or not self.missing)


def _tokens(text: str, word: Word) -> set[int]:
    """Which of the text's tokens the word is, by number."""
    first = len(text[: word.begin].split()) - (word.begin > 0 and not text[word.begin - 1].isspace())
    return set(range(first, len(text[: word.end].split())))


def _shared(word: Word, stretch: tuple[float, float]) -> float:
    """The share of a word that lies in a stretch of time."""
    inside_s = min(word.end_s, stretch[1]) - max(word.begin_s, stretch[0])
    return max(inside_s, 0.0) / max(word.end_s - word.begin_s, 1e-9)


def _add(found: dict[str, Share], kind: str, counts: bool) -> None:
    found[kind] = found.get(kind, NONE) + Share(int(counts), 1)


def _aligned(aligner: Aligner, speech: Speech, text: str) -> tuple[Word, ...] | None:
    """The words, or None where the aligner refuses: that is an answer here."""
    try:
        return aligner.align(speech, text)
    except Refusal:
        return None


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


def _variants(text: str, other: str, vocabulary: list[str], rng: random.Random) -> Iterator[Wrong]:
    words = text.split()
    at = rng.randrange(len(words))
    stranger = rng.choice([word for word in vocabulary if word != words[at].lower()])
    if other.lower() != text.lower():
        yield Wrong(MISMATCHES[0], other)
    yield Wrong(MISMATCHES[1], " ".join([*words[:at], stranger, *words[at + 1 :]]), at, frozenset({at}))
    yield Wrong(MISMATCHES[2], " ".join([*words[:at], stranger, *words[at:]]), at)
    if len(words) > 1:
        yield Wrong(MISMATCHES[3], " ".join([*words[:at], *words[at + 1 :]]), missing=frozenset({at}))


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
