"""The phones of an utterance on the vocoder's clock, and what the networks are told about them.

A track is a row of segments without gaps: every frame belongs to one phone or to silence. Only labels and lengths are in
it; nothing of the sound, out of which `cut_out` takes the words that must not be said.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.voice.opus_features import HOP, RATE_HZ
from sottovoce.models.speech.voice.pool import PHONES

FRAMES_PER_S = 100
LEAD = 1  # the aligner's frame i looks at the sound that the vocoder's frame i + 1 is centred on
SILENCE = 0
SHORTEST_PAUSE = 3  # frames; what is shorter belongs to the phone before it
NUMBER = {phone: number for number, phone in enumerate(PHONES)}
FRAME_INPUTS = 3 * len(PHONES) + 9
PLACE = 3 * len(PHONES)  # column of a frame's inputs: from the begin of its phone, 0, to its end, 1
SEGMENT_INPUTS = len(PHONES) + 2
REACH_S = 2.0  # how far the networks are told of the next pause


@dataclass(frozen=True, eq=False)
class PhoneTrack:
    """Per segment: number of its phone, length in frames, number of its word (-1: none), and where it was in the source."""

    phone: np.ndarray
    length: np.ndarray
    word: np.ndarray
    source_begin: np.ndarray
    source_length: np.ndarray

    @property
    def frames(self) -> int:
        """Length of the whole track, in frames of the vocoder."""
        return int(self.length.sum())

    @property
    def begin(self) -> np.ndarray:
        return np.cumsum(self.length) - self.length

    @property
    def owner(self) -> np.ndarray:
        """Segment of each frame."""
        return np.repeat(np.arange(len(self.length)), self.length)

    @property
    def speech(self) -> np.ndarray:
        """Whether each frame is speech."""
        return self.phone[self.owner] != SILENCE

    @property
    def unheard(self) -> np.ndarray:
        """Whether each segment is a phone that the source never said: of a surrogate, which has no sound to take after."""
        return (self.phone != SILENCE) & (self.source_length == 0)

    @property
    def left_out(self) -> np.ndarray:
        """Whether each segment is the silence in place of a word that must not be said."""
        return (self.phone == SILENCE) & (self.word >= 0)

    def with_lengths(self, length: np.ndarray) -> PhoneTrack:
        """The same phones, said faster or slower: new frames per segment, and still the old places in the source."""
        return replace(self, length=length)

    def source_positions(self) -> np.ndarray:
        """Where in the source each frame comes from, in its frames."""
        owner = self.owner
        share = (np.arange(self.frames) - self.begin[owner] + 0.5) / self.length[owner]
        return self.source_begin[owner] + share * self.source_length[owner] - 0.5


def track_of(words: Sequence[Word], frames: int) -> PhoneTrack:
    """The phones of aligned words, silence between them. Phones of words that last no time are segments without length."""
    segments: list[tuple[int, int, int]] = []  # phone, begin, word
    at = 0
    for index, word in enumerate(words):
        for phone in word.phones:
            begin = max(round(phone.begin_s * FRAMES_PER_S) + LEAD, at)
            end = min(round(phone.end_s * FRAMES_PER_S) + LEAD, frames)
            said = phone.begin_s < phone.end_s
            begin, end = (begin, end) if said else (min(begin, frames), min(begin, frames))
            if (said and end <= begin) or NUMBER.get(phone.label, SILENCE) == SILENCE:
                continue
            if begin - at >= SHORTEST_PAUSE:
                segments.append((SILENCE, at, -1))
                at = begin
            segments.append((NUMBER[phone.label], at, index))
            at = end
    if not segments or frames - at >= SHORTEST_PAUSE:
        segments.append((SILENCE, at, -1))
    phones, begins, owners = (np.array(column) for column in zip(*segments, strict=True))
    lengths = np.diff(np.append(begins, frames))
    return PhoneTrack(phones, lengths, owners, begins, lengths)


def without_words(track: PhoneTrack, indices: Collection[int], gap: int) -> PhoneTrack:
    """Each run of words that must not be said, pauses inside it included, is a silence of `gap` frames in all."""
    gone = np.isin(track.word, list(indices))
    spoken = np.flatnonzero((track.word >= 0) & ~gone)
    run_of = np.searchsorted(spoken, np.arange(len(gone)))  # segments between the same two spoken ones share a number
    kept = np.ones(len(gone), bool)
    lengths, phones = track.length.copy(), track.phone.copy()
    for run in np.unique(run_of[gone]):
        inside = np.flatnonzero(gone & (run_of == run))
        heads = inside[np.append(True, np.diff(track.word[inside]) != 0)]  # one segment stands for each word
        kept[inside[0] : inside[-1] + 1] = False
        kept[heads] = True
        phones[heads] = SILENCE
        lengths[heads] = np.maximum(np.diff(np.linspace(0, gap, len(heads) + 1).round().astype(int)), 1)
    changed = replace(track, phone=phones, length=lengths)
    return PhoneTrack(*(getattr(changed, field.name)[kept] for field in fields(PhoneTrack)))


def cut_out(
    speech: Speech, words: Sequence[Word], left_out: frozenset[int], gap: int
) -> tuple[Speech, PhoneTrack, PhoneTrack]:
    """The recording without some words, its track, and the track with its lengths in the recording, on the clock of what is left.

    A silence of fixed length stands in their place before anything is measured: what follows the pitch or reads between two
    frames would else depend on how long they were.
    """
    whole = track_of(words, round(speech.duration_s * RATE_HZ) // HOP + 2)
    if not left_out:
        return speech, whole, whole
    track = without_words(whole, left_out, gap)
    length = np.where(track.left_out, track.length, track.source_length)
    samples = resample(_silent(speech, [words[index] for index in sorted(left_out)]), RATE_HZ).samples
    last = HOP * int((track.source_begin + track.source_length).max())
    samples = np.pad(samples, (HOP * LEAD, max(last - len(samples), 0)))
    pieces = [
        np.zeros(HOP * frames, np.float32) if gone else samples[HOP * begin : HOP * (begin + frames)]
        for begin, frames, gone in zip(track.source_begin, length, track.left_out, strict=True)
    ]
    moved = replace(track, source_begin=np.cumsum(length) - length, source_length=length)
    return Speech(np.concatenate(pieces)[HOP * LEAD :], RATE_HZ), moved, replace(moved, length=length)


def _silent(speech: Speech, words: Sequence[Word]) -> Speech:
    samples = speech.samples.copy()
    for word in words:
        samples[round(word.begin_s * speech.rate_hz) : round(word.end_s * speech.rate_hz)] = 0.0
    return Speech(samples, speech.rate_hz)


def repaused(track: PhoneTrack, share: float, rate: float, draw: np.random.Generator) -> PhoneTrack:
    """Pauses between words, for `share` of the places drawn with probability `rate` instead of taken from the source.

    How often somebody pauses is a habit that several utterances give away. Next to words that are not said there is
    silence already. Both ends are silent, whether or not the source began and ended so.
    """
    columns = [getattr(track, field.name) for field in fields(PhoneTrack)]
    said = np.flatnonzero(track.word >= 0)
    rows: list[tuple[int, ...]] = []
    for before, at in pairwise([None, *said]):
        public, coin = draw.random(2) < (share, rate)
        paused = before is None or at - before > 1
        if before is not None and public:
            paused = coin and track.word[at] != track.word[before] and not track.left_out[[before, at]].any()
        if paused:
            rows.append((SILENCE, SHORTEST_PAUSE, -1, track.source_begin[at], 0))
            if at and track.word[at - 1] < 0:
                rows[-1] = tuple(column[at - 1] for column in columns)
        rows.append(tuple(column[at] for column in columns))
    end = track.source_begin[said[-1]] + track.source_length[said[-1]]
    rows.append((SILENCE, SHORTEST_PAUSE, -1, end, max(track.source_begin[-1] + track.source_length[-1] - end, 0)))
    return PhoneTrack(*(np.array(column) for column in zip(*rows, strict=True)))


def segment_inputs(track: PhoneTrack) -> np.ndarray:
    """[segments, SEGMENT_INPUTS]: the phone, and whether its word begins or ends here."""
    out = np.zeros((len(track.phone), SEGMENT_INPUTS), np.float32)
    out[np.arange(len(track.phone)), track.phone] = 1
    changes = np.array([a != b for a, b in pairwise([-2, *track.word])])
    out[:, -2] = changes & (track.word >= 0)
    out[:, -1] = np.append(changes[1:], True) & (track.word >= 0)
    return out


def frame_inputs(track: PhoneTrack) -> np.ndarray:
    """[frames, FRAME_INPUTS]: the phone and its neighbours, the place in the phone, in the word and between two pauses."""
    owner, count = track.owner, len(PHONES)
    phone = track.phone
    left, right = np.append(SILENCE, phone[:-1]), np.append(phone[1:], SILENCE)
    out = np.zeros((len(owner), FRAME_INPUTS), np.float32)
    rows = np.arange(len(owner))
    for number, labels in enumerate((phone, left, right)):
        out[rows, number * count + labels[owner]] = 1
    since = rows - track.begin[owner]
    length = track.length[owner]
    place = (since + 0.5) / length
    edges = segment_inputs(track)[owner, -2:]
    rests = [np.minimum(distance, REACH_S * FRAMES_PER_S) / FRAMES_PER_S for distance in _to_pauses(track.speech)]
    more = [place, place**2, np.log(length) / 3, np.minimum(since, 10) / 10, np.minimum(length - since, 10) / 10]
    out[:, PLACE:] = np.stack([*more, *edges.T, *rests], axis=1)
    return out


def _to_pauses(speech: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames since the last pause and until the next one."""

    def since(flags: np.ndarray) -> np.ndarray:
        rows = np.arange(len(flags))
        return rows - np.maximum.accumulate(np.where(flags, -1, rows))

    return since(speech), since(speech[::-1])[::-1]


def moved_words(words: Sequence[Word], said: PhoneTrack) -> tuple[Word, ...]:
    """The words and their phones where they now stand; a word that is left out keeps its phones' names, not their times."""
    ends = said.begin + said.length
    begins_s, ends_s = (np.maximum(frames - LEAD, 0) / FRAMES_PER_S for frames in (said.begin, ends))
    out = []
    for index, word in enumerate(words):
        own = np.flatnonzero(said.word == index)
        begin_s, end_s = float(begins_s[own[0]]), float(ends_s[own[-1]])
        if said.left_out[own[0]]:
            phones = tuple(replace(phone, begin_s=begin_s, end_s=end_s) for phone in word.phones)
        else:
            phones = tuple(Phone(PHONES[said.phone[at]], float(begins_s[at]), float(ends_s[at])) for at in own)
        out.append(replace(word, begin_s=begin_s, end_s=end_s, phones=phones))
    return tuple(out)
