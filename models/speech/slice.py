"""Cut speech into short slices on word borders, so that nobody can put a dialogue back together.

COMPRISE D2.3, section 4: take words until the slice is long enough. A slice carries nothing of its neighbours: its
edges are trimmed to a fixed pad, its level is set, and masked words at its edges are cut off, not even their length stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, with_level
from sottovoce.models.speech.masked_words import MaskedWords, text_between

FADE_S = 0.005


class NothingLeft(Refusal):
    code = "nothing_left"
    allowed = "an utterance of which at least one slice remains after masking and cutting"


@dataclass(frozen=True, slots=True, repr=False)
class Slice:
    """A short stretch of speech with the words that are said in it."""

    speech: Speech
    text: str


@dataclass(frozen=True)
class Slicer:
    """`remainder`: what is shorter than `min_seconds` at the end is joined to the slice before it, or dropped.

    An utterance that is too short as a whole is one slice under `join` and dropped under `drop`. With `cross_masked`
    off no slice holds speech from both sides of a masked word. `drop_words` are left out between two slices, so that the
    begin of one does not continue the end of the other. `level_db` is the level of every slice (None leaves it).
    """

    min_seconds: float = 3.0
    remainder: Literal["join", "drop"] = "join"
    cross_masked: bool = True
    drop_words: int = 0
    pad_s: float = 0.1
    level_db: float | None = -26.0

    def __post_init__(self) -> None:
        require(
            (self.min_seconds > 0, "min_seconds: must be above 0"),
            (0 <= self.drop_words <= 10, "drop_words: must lie in [0, 10]"),
            (0 <= self.pad_s <= 1, "pad_s: must lie in [0, 1]"),
            (self.level_db is None or -60 <= self.level_db <= -10, "level_db: must lie in [-60, -10], or null"),
        )

    def cut(self, speech: Speech, text: str, words: Sequence[Word], masked: MaskedWords) -> list[Slice]:
        """Slices of masked speech, in order of time: the caller shuffles them and gives them random ids."""
        slices = []
        for group in self.groups(words, masked):
            piece = text_of(text, words, group, masked)
            if piece:
                slices.append(Slice(self._sound(speech, words, group), piece))
        if not slices:
            raise NothingLeft
        return slices

    def levelled(self, piece: Slice) -> Slice:
        """A slice that was said by itself, between its own silences, at the level of all slices."""
        if self.level_db is None:
            return piece
        return Slice(with_level(piece.speech, 10 ** (self.level_db / 20)), piece.text)

    def groups(self, words: Sequence[Word], masked: MaskedWords) -> list[tuple[int, int]]:
        """(first, last) word of each slice. Both are unmasked."""
        out: list[tuple[int, int]] = []
        for run in self._runs(words, masked):
            kept = [index for index in run if index not in masked.indices]
            out += self._groups_of_run(words, kept) if kept else []
        return out

    def _groups_of_run(self, words: Sequence[Word], kept: Sequence[int]) -> list[tuple[int, int]]:
        out: list[tuple[int, int]] = []
        at = 0  # place in `kept` where the next slice begins
        for place, index in enumerate(kept):
            if place >= at and words[index].end_s - words[kept[at]].begin_s >= self.min_seconds:
                out.append((kept[at], index))
                at = place + 1 + self.drop_words
        if self.remainder == "drop":
            return out
        if not out:
            return [(kept[0], kept[-1])]
        return [*out[:-1], (out[-1][0], kept[-1])]

    def _runs(self, words: Sequence[Word], masked: MaskedWords) -> list[list[int]]:
        if self.cross_masked:
            return [list(range(len(words)))]
        runs: list[list[int]] = [[]]
        for index in range(len(words)):
            if index in masked.indices:
                runs.append([])
            else:
                runs[-1].append(index)
        return [run for run in runs if run]

    def _sound(self, speech: Speech, words: Sequence[Word], group: tuple[int, int]) -> Speech:
        """From the first word to the last, between pads of one length.

        The pause after a slice stays in its pad as far as it fits; the next slice begins with its first word. If both kept
        a share of the pause, the lengths of these shares would tell who is whose neighbour.
        """
        first, last = group
        begin_s, end_s = words[first].begin_s, words[last].end_s
        after_s = (words[last + 1].begin_s if last + 1 < len(words) else speech.duration_s) - end_s
        trail_s = min(self.pad_s, max(after_s, 0.0))
        rate_hz = speech.rate_hz
        samples = speech.samples[round(begin_s * rate_hz) : round((end_s + trail_s) * rate_hz)].copy()
        fade = min(round(FADE_S * rate_hz), len(samples) // 2)
        ramp = np.linspace(0, 1, fade, endpoint=False, dtype=np.float32)
        samples[:fade] *= ramp
        samples[len(samples) - fade :] *= ramp[::-1]
        samples = np.pad(samples, (round(self.pad_s * rate_hz), round((self.pad_s - trail_s) * rate_hz)))
        cut = Speech(samples, rate_hz)
        return cut if self.level_db is None else with_level(cut, 10 ** (self.level_db / 20))


def text_of(text: str, words: Sequence[Word], group: tuple[int, int], masked: MaskedWords) -> str:
    """From the first word to the last, with the punctuation that clings to the last."""
    end = words[group[1]].end
    following = words[group[1] + 1].begin if group[1] + 1 < len(words) else len(text)
    while end < following and not text[end].isspace():
        end += 1
    return text_between(text, words[group[0]].begin, end, masked.removed)


def slice_id(secret: Secret, utterance: Utterance, number: int) -> str:
    """The name of a slice, under which it is released and, where it follows from its text alone, drawn."""
    return secret.token("slice", utterance.dialogue_id, utterance.id, number)
