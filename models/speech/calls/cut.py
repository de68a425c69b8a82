"""A call becomes utterances: stretches of speech, each with its channel or speaker and with its own words.

With a transcript each part is judged by the aligner as any utterance is, so that a wrong transcript is refused where it is wrong.
One side of up to a minute is aligned as a whole and cut at its pauses; a longer or a two-sided one goes by anchors, which take a
recogniser, and what lies between two parts that are known is aligned in the same way. Without a transcript the recogniser writes
each stretch down.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.speech.align import Aligner
from sottovoce.models.speech.align.refusals import AlignmentMismatch
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.calls.activity import FRAME_S, Stretch, frame_levels, stretches_of
from sottovoce.models.speech.calls.anchors import LEAST_MATCHED, Found, found_in, words_in
from sottovoce.models.speech.calls.speakers_of import speakers_of
from sottovoce.models.speech.recognise import NothingHeard, Recogniser, is_transcript
from sottovoce.models.speech.speakers import SpeakerEncoder

WINDOW_S = 60.0  # read at a time
MOST_UNSURE = 6  # words between two parts that the recogniser did not hear as they are written
BLEED_DB = 6.0  # quieter than the other channel at the same time: the other speaker, heard through the line


class NotAttributed(Refusal):
    code = "speaker_not_attributed"
    allowed = "at least a second in which one person speaks alone"


@dataclass(frozen=True, slots=True, repr=False)
class CallPart:
    """One utterance of a call. `speaker`: its channel, or a number in one mixed channel."""

    stretch: Stretch
    text: str
    speaker: int


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """A stretch of a call that becomes no utterance, and why."""

    stretch: Stretch
    refusal: Refusal


Places = list[tuple[int, int]]  # of words in the transcript, in characters [begin, end)
Read = Callable[[int, float, float], Speech]  # channel, begin and end in seconds


@dataclass
class CallCutter:
    """`locate`: an aligner without floors, which finds words and judges nothing. `speakers`: in one mixed channel."""

    judge: Aligner
    locate: Aligner
    recogniser: Recogniser | None = None
    encoder: SpeakerEncoder | None = None
    speakers: int = 2
    most_s: float = 15.0
    language: str | None = None
    _read: Read | None = field(default=None, init=False, repr=False)
    _judged: dict[tuple[Stretch, str], str | Refusal] = field(default_factory=dict, init=False, repr=False)

    def cut(
        self, read: Read, channels: Sequence[int], duration_s: float, text: str, mixed: bool = False
    ) -> Iterator[CallPart | RefusedPart]:
        """In order of time. `mixed`: several people share the one channel."""
        self._read, self._judged = read, {}
        stretches = self._stretches(channels, duration_s)
        who: list[int | None] = [stretch.channel for stretch in stretches]
        if mixed and stretches:
            assert self.encoder is not None, "one mixed channel needs a speaker encoder"
            who = speakers_of(self.encoder, [self._speech(stretch) for stretch in stretches], self.speakers)
        if not stretches:
            return
        outcomes = self._written(stretches, text) if is_transcript(text) else self._heard(stretches)
        for index, outcome in enumerate(outcomes):
            speaker = who[index]
            if isinstance(outcome, Refusal):
                yield RefusedPart(stretches[index], outcome)
            elif speaker is None:
                yield RefusedPart(stretches[index], NotAttributed())
            else:
                yield CallPart(stretches[index], outcome, speaker)

    def _speech(self, stretch: Stretch) -> Speech:
        assert self._read is not None
        return self._read(stretch.channel, stretch.begin_s, stretch.end_s)

    def _stretches(self, channels: Sequence[int], duration_s: float) -> list[Stretch]:
        assert self._read is not None
        levels = {}
        for channel in channels:
            windows = np.arange(0.0, duration_s, WINDOW_S)
            parts = [self._read(channel, float(at), min(float(at) + WINDOW_S, duration_s)) for at in windows]
            levels[channel] = np.concatenate([frame_levels(part) for part in parts])
        found = [one for channel in channels for one in stretches_of(levels[channel], channel, self.most_s)]
        return sorted((one for one in found if not _bleeds(one, levels)), key=lambda one: one.begin_s)

    def _heard(self, stretches: Sequence[Stretch]) -> Iterator[str | Refusal]:
        for stretch in stretches:
            text = self._transcribed(stretch)
            yield text if is_transcript(text) else NothingHeard()

    def _transcribed(self, stretch: Stretch) -> str:
        return self.recogniser.transcribe(self._speech(stretch)) if self.recogniser is not None else ""

    def _written(self, stretches: Sequence[Stretch], text: str) -> list[str | Refusal]:
        one_side = len({stretch.channel for stretch in stretches}) == 1
        located = one_side and stretches[-1].end_s - stretches[0].begin_s <= WINDOW_S
        places = self._located(stretches, text) if located else self._anchored(stretches, text)
        verdicts = [self._verdict(stretch, _said(text, own)) for stretch, own in zip(stretches, places, strict=True)]
        for index in range(len(places) - 1):
            self._move_border(stretches, text, places, verdicts, index)
        return verdicts

    def _located(self, stretches: Sequence[Stretch], text: str) -> list[Places]:
        """All are aligned in a row: each word goes to the stretch in whose time its middle lies."""
        speeches = [self._speech(stretch) for stretch in stretches]
        ends_s = np.cumsum([speech.duration_s for speech in speeches])
        whole = Speech(np.concatenate([speech.samples for speech in speeches]), speeches[0].rate_hz)
        places: list[Places] = [[] for _ in stretches]
        with contextlib.suppress(Refusal):  # then no stretch has a word, and each is refused
            for word in self.locate.align(whole, text, self.language):
                own = int(np.searchsorted(ends_s[:-1], (word.begin_s + word.end_s) / 2))
                places[own].append((word.begin, word.end))
        return places

    def _move_border(
        self,
        stretches: Sequence[Stretch],
        text: str,
        places: list[Places],
        verdicts: list[str | Refusal],
        index: int,
    ) -> None:
        """Words beside a pause that went to its wrong side: moved, if then both sides are what is said there."""
        left, right = places[index : index + 2]
        if all(isinstance(verdict, str) for verdict in verdicts[index : index + 2]):
            return
        for moved in (-1, 1, -2, 2):
            words, at = left + right, len(left) + moved
            if not 0 < at < len(words):
                continue
            tried: list[str | Refusal] = []
            for stretch, own in zip(stretches[index : index + 2], (words[:at], words[at:]), strict=True):
                tried.append(self._verdict(stretch, _said(text, own)))
                if not isinstance(tried[-1], str):
                    break
            else:
                places[index : index + 2], verdicts[index : index + 2] = [words[:at], words[at:]], tried
                return

    def _anchored(self, stretches: Sequence[Stretch], text: str) -> list[Places]:
        """By what the recogniser heard; what it misheard lies between two parts that are known, and is located there."""
        words = words_in(text)
        places: list[Places] = [words[first:end] for first, end in self._found(stretches, text, words)]
        for first, end in _runs_of_empty(places):
            begin = places[first - 1][-1][1] if first else 0
            until = places[end][0][0] if end < len(places) else len(text)
            own = stretches[first:end]
            if is_transcript(text[begin:until]) and sum(stretch.duration_s for stretch in own) <= WINDOW_S:
                located = self._located(own, text[begin:until])
                places[first:end] = [[(begin + a, begin + b) for a, b in words] for words in located]
        return places

    def _found(self, stretches: Sequence[Stretch], text: str, words: Places) -> Iterator[tuple[int, int]]:
        """The words [first, end) of each stretch, none where they are not known; where words at a border were misheard, the judge
        tells whose they are."""
        found = found_in(text, [self._transcribed(stretch) for stretch in stretches])
        begin = 0
        for index, own in enumerate(found):
            kept = (0, 0)
            if own is not None and own.matched >= LEAST_MATCHED:
                following = next((other for other in found[index + 1 :] if other is not None), None)
                for first, end in self._borders(begin, own, len(words) if following is None else following.first):
                    if isinstance(self._verdict(stretches[index], text[words[first][0] : words[end - 1][1]]), str):
                        kept = (first, end)
                        break
                begin = kept[1] or own.last + 1
            yield kept

    def _borders(self, begin: int, own: Found, limit: int) -> Iterator[tuple[int, int]]:
        """All words since the last part up to the next one's; then fewer, from either end."""
        first = min(begin, own.first)
        if own.first - first > MOST_UNSURE:  # a stretch in between was refused with its words
            first = own.first
        last = limit if limit - own.last - 1 <= MOST_UNSURE else own.last + 1
        for begins in dict.fromkeys((first, own.first)):
            for ends in range(max(last, own.last + 1), own.last, -1):
                yield begins, ends

    def _verdict(self, stretch: Stretch, text: str) -> str | Refusal:
        if (stretch, text) not in self._judged:
            self._judged[stretch, text] = self._judge(stretch, text)
        return self._judged[stretch, text]

    def _judge(self, stretch: Stretch, text: str) -> str | Refusal:
        if not is_transcript(text):
            return AlignmentMismatch()
        try:
            words = self.judge.align(self._speech(stretch), text, self.language)
        except Refusal as refusal:
            return refusal
        return AlignmentMismatch() if any(word.misfit for word in words) else text


def _runs_of_empty(places: Sequence[Places]) -> list[tuple[int, int]]:
    """[first, end) of each run of stretches whose words are not known."""
    runs = []
    for known, run in itertools.groupby(range(len(places)), lambda index: bool(places[index])):
        if not known:
            first, *rest = run
            runs.append((first, first + 1 + len(rest)))
    return runs


def _said(text: str, words: Places) -> str:
    return text[words[0][0] : words[-1][1]] if words else ""


def _bleeds(stretch: Stretch, levels: dict[int, np.ndarray]) -> bool:
    inside = slice(int(stretch.begin_s / FRAME_S), int(stretch.end_s / FRAME_S) + 1)
    own = np.percentile(levels[stretch.channel][inside], 90)
    others = [np.percentile(of[inside], 90) for channel, of in levels.items() if channel != stretch.channel]
    return any(own < other - BLEED_DB for other in others)
