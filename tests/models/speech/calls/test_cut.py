"""Parts that the recogniser misheard get the words between their neighbours, as far as these are said there."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.models.records import Word
from sottovoce.models.speech.align.refusals import AlignmentMismatch
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.calls.activity import Stretch
from sottovoce.models.speech.calls.cut import CallCutter, CallPart

RATE_HZ, WORD_S = 1000, 0.5
SAID = ["one two three four", "five six", "seven", "eight nine ten eleven", "twelve thirteen"]
TEXT = " ".join(SAID)
NUMBER = {word: number for number, word in enumerate(TEXT.split(), 1)}


def spoken(text: str) -> np.ndarray:
    """A word is half a second of samples that tell which word it is; zeros are a pause."""
    return np.repeat([NUMBER[word] / 100 for word in text.split()], int(WORD_S * RATE_HZ)).astype(np.float32)


def heard_in(speech: Speech) -> list[str]:
    names = {number: word for word, number in NUMBER.items()}
    samples = np.round(speech.samples[int(WORD_S * RATE_HZ / 2) :: int(WORD_S * RATE_HZ)] * 100).astype(int)
    return [names[number] for number in samples if number]


class Judge:
    """Accepts what is said, word for word."""

    def align(self, speech, text, language=None):
        if text.split() != heard_in(speech):
            raise AlignmentMismatch
        return ()


class Locate:
    """Puts as many words as are written evenly over the speech."""

    def align(self, speech, text, language=None):
        at, words = 0, []
        length_s = speech.duration_s / len(text.split())
        for number, word in enumerate(text.split()):
            begin = text.index(word, at)
            at = begin + len(word)
            words.append(Word(begin, at, number * length_s, (number + 1) * length_s, 1.0, ()))
        return tuple(words)


class Mishears:
    def __init__(self, *wrong: str):
        self.wrong = wrong

    def transcribe(self, speech):
        return " ".join("noise" if word in self.wrong else word for word in heard_in(speech))


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("five", "six"),  # one part
        ("five", "six", "seven"),  # two in a row
        ("one", "two", "three", "four"),  # at the beginning
        ("twelve", "thirteen"),  # at the end
        ("four", "five", "six"),  # beside a part that is known
    ],
)
def test_what_was_misheard_is_found_between_what_was_not(wrong):
    assert cut(TEXT, Mishears(*wrong)) == SAID


def test_a_transcript_of_something_else_is_refused_everywhere():
    other = " ".join(word for word in reversed(TEXT.split()) if word != "seven")  # which alone would be right
    assert cut(other, Mishears()) == [None] * len(SAID)


def test_a_part_that_is_not_in_the_transcript_is_refused_and_its_neighbours_stay():
    assert cut(TEXT.replace("five six ", ""), Mishears()) == [SAID[0], None, *SAID[2:]]


def cut(text: str, recogniser: Mishears) -> list[str | None]:
    class Given(CallCutter):
        def _stretches(self, channels, duration_s):
            return stretches

    channels = [np.zeros(0, np.float32), np.zeros(0, np.float32)]
    stretches = []
    for number, words in enumerate(SAID):  # the sides take turns, so that the whole goes by anchors
        sound = spoken(words)
        begin_s = len(channels[0]) / RATE_HZ
        stretches.append(Stretch(begin_s, begin_s + len(sound) / RATE_HZ, number % 2))
        for side in (0, 1):
            channels[side] = np.concatenate([channels[side], sound if side == number % 2 else np.zeros_like(sound)])

    def read(channel: int, begin_s: float, end_s: float) -> Speech:
        return Speech(channels[channel][round(begin_s * RATE_HZ) : round(end_s * RATE_HZ)], RATE_HZ)

    parts = Given(Judge(), Locate(), recogniser).cut(read, (0, 1), len(channels[0]) / RATE_HZ, text)
    return [part.text if isinstance(part, CallPart) else None for part in parts]
