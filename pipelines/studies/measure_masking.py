"""Whether masks cover what they must, what they cost the words beside them, and whether a misplaced mask is heard."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.known_answers.word_times import Known
from sottovoce.models.evaluation.metrics.proportion import Share
from sottovoce.models.randomness import fresh_secret
from sottovoce.models.records import Source, Span, Utterance, Word
from sottovoce.models.speech import chain
from sottovoce.models.speech.align import Aligner
from sottovoce.models.speech.mask import Masker
from sottovoce.models.speech.masked_words import MaskedWords, mark, with_misfits
from sottovoce.models.speech.recognise import Listener
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice import Anonymiser
from sottovoce.pipelines.studies.measure_alignment import sounding_frames

Interval = tuple[float, float]


@dataclass(frozen=True)
class MaskingItem:
    """Speech with known word times; the words that an aligner found in it (None where it refused), and their masks (None
    where one of them is perhaps in the wrong place)."""

    known: Known
    sensitive: frozenset[int]
    words: tuple[Word, ...] | None = None
    masked: MaskedWords | None = None


MIN_LEFT_S = 0.02
MIN_CLEAR_S = 0.1
NONE = Share(0, 0)


@dataclass
class Coverage:
    """Sensitive words that the mask covers whole, and speech of kept words that it takes with it."""

    covered: Share = NONE
    caught: Share = NONE
    missed_ms: list[float] = field(default_factory=list)
    beside_s: float = 0.0
    beside_lost_s: float = 0.0
    kept_s: float = 0.0
    kept_lost_s: float = 0.0
    refused: Share = NONE

    def summary(self) -> dict[str, Any]:
        """For the report, by words that say what each figure is; shares with their counts, times in ms, losses in %."""
        return {
            "sensitive words covered whole": str(self.covered),
            "covered whole or refused by the listener": str(self.caught),
            "of words not covered whole, left in clear (ms, median, largest)": [
                round(float(np.median(self.missed_ms)), 1) if self.missed_ms else 0.0,
                round(max(self.missed_ms, default=0.0), 1),
            ],
            **self.losses(),
            "utterances refused by the aligner": str(self.refused),
        }

    def losses(self) -> dict[str, str]:
        return {
            "lost of the neighbouring words' speech": f"{100 * self.beside_lost_s / max(self.beside_s, 1e-9):.1f} %",
            "lost of all kept speech": f"{100 * self.kept_lost_s / max(self.kept_s, 1e-9):.1f} %",
        }


def aligned(aligner: Aligner, spoken: Iterable[tuple[Known, frozenset[int]]]) -> list[MaskingItem]:
    """Every utterance with the words that the aligner finds, and the masks that follow from them."""
    items: list[MaskingItem] = []
    for known, sensitive in spoken:
        try:
            words = aligner.align(known.speech, known.text)
        except Refusal:
            items.append(MaskingItem(known, sensitive))
            continue
        try:
            masked = mark(known.text, _spans(known, sensitive, words), words)
        except Refusal:
            masked = None
        items.append(MaskingItem(known, sensitive, words, masked))
    return items


def _spans(known: Known, sensitive: Iterable[int], words: Sequence[Word]) -> tuple[Span, ...]:
    spans = [Span(known.words[index].begin, known.words[index].end, "SENSITIVE") for index in sorted(sensitive)]
    return with_misfits(words, spans)


def in_another_voice(voice: Anonymiser, masker: Masker, items: Sequence[MaskingItem]) -> list[MaskingItem]:
    """The same utterances as a run would mask them: after the voice was changed. What the voice refuses is left out."""
    out, secret = [], fresh_secret()
    for number, item in enumerate(items):
        if item.words is None or item.masked is None:
            continue
        text = item.known.text
        before = item.known.words
        spans = _spans(item.known, item.sensitive, item.words)
        utterance = Utterance(str(number), str(number), 0, text, Source("made", number), spans=spans)
        try:
            voiced = chain.voiced(voice, Spoken(utterance, item.known.speech, item.words), secret)
            masked = chain.words_to_mask(masker, voiced)
        except Refusal:
            continue
        # A voice that says the words anew knows when; under the others they are where they were.
        known = Known(voiced.speech, text, _said_anew(before, voiced.words) if voiced.unsaid else before)
        out.append(MaskingItem(known, item.sensitive, voiced.words, masked))
    return out


def _said_anew(known: Sequence[Word], said: Sequence[Word]) -> tuple[Word, ...]:
    """Each known stretch of text (a word, or a whole recording) with the times of the words in it."""
    out = []
    for stretch in known:
        inside = [word for word in said if stretch.begin <= word.begin < stretch.end]
        out.append(dataclasses.replace(stretch, begin_s=inside[0].begin_s, end_s=inside[-1].end_s))
    return tuple(out)


def coverage(masker: Masker, items: Sequence[MaskingItem], listener: Listener | None = None) -> Coverage:
    """Against known times: the true stretch of each sensitive word must lie inside what was overwritten."""
    result = Coverage()
    for item in items:
        known, sensitive, words, masked = item.known, item.sensitive, item.words, item.masked
        result.refused += Share(int(masked is None), 1)
        if words is None or masked is None:
            continue
        rate_hz = known.speech.rate_hz
        gone = [(a / rate_hz, b / rate_hz) for a, b in masker.intervals(known.speech, masked.stretches)]
        speech = masker.mask(known.speech, masked.stretches)
        heard = bool(listener and listener.heard(speech, known.text, words, masked))
        for index, word in enumerate(known.words):
            length_s = word.end_s - word.begin_s
            lost_s = sum(_overlap((word.begin_s, word.end_s), stretch) for stretch in gone)
            if index in sensitive:
                whole = length_s - lost_s < 1 / rate_hz
                result.covered += Share(int(whole), 1)
                result.caught += Share(int(whole or heard), 1)
                result.missed_ms += [] if whole else [1000 * (length_s - lost_s)]
                continue
            beside = bool({index - 1, index + 1} & sensitive)
            result.kept_s, result.kept_lost_s = result.kept_s + length_s, result.kept_lost_s + lost_s
            if beside:
                result.beside_s, result.beside_lost_s = result.beside_s + length_s, result.beside_lost_s + lost_s
    return result


def covered_recordings(masker: Masker, items: Sequence[MaskingItem]) -> dict[str, Any]:
    """Recordings in a row, the middle one sensitive: how much of its sound is overwritten, and how much of the others'.

    Sound is every 10 ms that is clearly above the background: breath and clicks count as well.
    """
    whole, refused = NONE, NONE
    shares: list[float] = []
    lost: list[float] = []
    for item in items:
        known, masked = item.known, item.masked
        refused += Share(int(masked is None), 1)
        if masked is None:
            continue
        frames = len(known.speech.samples) // (known.speech.rate_hz // 100)
        gone = np.zeros(frames, bool)
        for begin, end in masker.intervals(known.speech, masked.stretches):
            gone[begin * 100 // known.speech.rate_hz : -(-end * 100 // known.speech.rate_hz)] = True
        middle = [known.words[index] for index in item.sensitive]
        first, last = round(middle[0].begin_s * 100), round(middle[0].end_s * 100)
        loud = sounding_frames(known.speech.samples, known.speech.rate_hz)
        inside = np.zeros(frames, bool)
        inside[first:last] = True
        shares.append(float(gone[loud & inside].mean()))
        whole += Share(int(shares[-1] > 0.999), 1)
        lost.append(float(gone[loud & ~inside].mean()))
    return {
        "sensitive recordings covered whole": str(whole),
        "overwritten of the sensitive recordings' sound": f"{100 * float(np.mean(shares)):.2f} %",
        "lost of the other recordings' sound": f"{100 * float(np.mean(lost)):.2f} %",
        "utterances refused by the aligner": str(refused),
    }


def shifted(
    masker: Masker, listener: Listener, items: Sequence[MaskingItem], shifts_ms: Sequence[float]
) -> dict[float, Share]:
    """Share of utterances in which a removed word is still heard when every mask lies `shift` beside its place.

    At shift 0 that is the false alarms. A shift counts only where it leaves MIN_CLEAR_S of sensitive sound in clear.
    """
    heard: dict[float, Share] = {shift: NONE for shift in shifts_ms}
    for item in items:
        known, words, masked = item.known, item.words, item.masked
        if words is None or masked is None:
            continue
        for shift in shifts_ms:
            moved = _moved(masked, shift / 1000, known.speech.duration_s)
            if moved is None or (shift and clear_s(masker, item, moved) < MIN_CLEAR_S):
                continue
            speech = masker.mask(known.speech, moved.stretches)
            heard[shift] += Share(int(bool(listener.heard(speech, known.text, words, moved))), 1)
    return heard


def clear_s(masker: Masker, item: MaskingItem, masked: MaskedWords) -> float:
    """How much sound of the sensitive words lies outside the masks."""
    speech, frame = item.known.speech, item.known.speech.rate_hz // 100
    sound = sounding_frames(speech.samples, speech.rate_hz)
    inside = np.zeros(len(sound), bool)
    for index in item.sensitive:
        word = item.known.words[index]
        inside[round(word.begin_s * 100) : round(word.end_s * 100)] = True
    for begin, end in masker.intervals(speech, masked.stretches):
        inside[begin // frame : -(-end // frame)] = False
    return float((sound & inside).sum()) / 100


def _moved(masked: MaskedWords, by_s: float, duration_s: float) -> MaskedWords | None:
    """The same masks, all moved; None where one would leave the recording, so that nothing is measured there."""
    stretches = tuple((begin_s + by_s, end_s + by_s) for begin_s, end_s in masked.stretches)
    inside = tuple((max(0.0, begin_s), min(duration_s, end_s)) for begin_s, end_s in stretches)
    if any(end_s - begin_s < MIN_LEFT_S for begin_s, end_s in inside):
        return None
    return dataclasses.replace(masked, stretches=inside)


def _overlap(one: Interval, other: Interval) -> float:
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
