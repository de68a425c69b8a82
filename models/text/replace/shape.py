"""Surrogates of the same shape, for numbers, codes, addresses, and dates and times that no list holds.

The shape is released exactly: how many figures, letters and words, in which order, with which signs, leading zeros and
link words ("of", "past", "at", "dot"). Everything else is drawn uniformly, so given its shape the value is gone.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sottovoce.models.text.replace.distribution import Draws, ListDistribution
from sottovoce.models.text.replace.surface import render, style_of
from sottovoce.models.text.words import MONTHS_SHORT, digit_words, read_words, words_of_class

# How number words are to be read: figure by figure, as days and hours, or as a sum of money.
Reading = Literal["dictated", "calendar", "amount"]

FIGURES = digit_words()
_MONTHS_LONG = tuple(word for word in words_of_class("m") + words_of_class("j") if word not in MONTHS_SHORT)
_DAYS = tuple(word for word in words_of_class("w") if not word.endswith("s"))
_LETTERS = tuple(string.ascii_lowercase)
_HALVES = ("am", "pm")
_ORDINAL_FIGURES = tuple(
    f"{day}{'th' if 11 <= day <= 13 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}" for day in range(1, 32)
)
_COMPOUND_ORDINALS = (*(f"twenty {ordinal}" for ordinal in words_of_class("r")[:9]), "thirty first")
_CENTURY_AND_YEAR = frozenset(("ty", "tt", "te", "tz", "yy", "yt", "ye"))

# Classes of words (models/text/words.py) that carry no value of their own.
_LINKS = frozenset("fT&GEgbpos,+=MOQFVWUABhkuCPKL$")
# How long: "a week" for "a month"; after a number the unit stays ("three nights") and the number changes.
_LASTING = frozenset("WZMU")
_COUNTED = frozenset("detyhk12345")
_PERIODS = ("day", "week", "month", "year")
_HOURS = ("hour", "hour and a half", "hour and a quarter")
# Drawn in place of any condition or complaint (`detect: health`).
CONDITIONS = (
    "asthma", "arthritis", "migraine", "diabetes", "hay fever", "eczema", "sciatica", "insomnia", "bronchitis",
    "high blood pressure", "tonsillitis", "anaemia",
)  # fmt: skip
_BESIDE_FIGURES = re.compile(r"\d[:./-]\d")
_DOMAINS = ("com", "org", "net")  # example.com, .org and .net belong to nobody (RFC 2606)


def choices_for(word: str, kind: str, reading: Reading, grouped: bool = True) -> tuple[str, ...] | None:
    """What may stand in place of a word of class `kind`: () keeps it, None means that the word is not understood. `grouped`: of
    figures, whether others are beside them ("18:05", "04/11")."""
    if reading == "dictated" and not word.isalpha():
        return None
    if kind in _LINKS or (kind == "z" and reading != "dictated"):
        return ()
    if kind in "zd" and reading == "dictated":
        return FIGURES
    if kind in "mj":
        return MONTHS_SHORT if word in MONTHS_SHORT else _MONTHS_LONG
    if kind == "w":
        return tuple(f"{day}s" for day in _DAYS) if word.endswith("s") else _DAYS
    if kind in "lai":
        return _LETTERS
    if kind in "XY":
        return tuple(half if kind == "X" else f"{half[0]} m" for half in _HALVES)
    if kind == "q":
        return _ORDINAL_FIGURES
    if kind == "Z":
        return tuple(part for part in words_of_class("Z") if part.endswith("s") == word.endswith("s"))
    if kind in "detynrRN":
        return words_of_class(kind)
    return _numbers_like(word, kind, grouped) if reading == "calendar" else None


def _numbers_like(word: str, kind: str, grouped: bool) -> tuple[str, ...] | None:
    """Hours, days, minutes and years in figures, no longer than the original; "may 8" for "may 12", but "18:05" for "18:45"."""
    ranges = {"1": range(1, 13), "2": range(13, 32), "3": range(60), "4": range(1930, 2030)}
    if kind not in ranges or not word.isascii():
        return None
    width = len(word) if grouped or word.startswith("0") else 0
    return tuple(str(number).zfill(width) for number in ranges[kind] if len(str(number)) <= len(word))


def _periods_like(word: str, before: str) -> tuple[str, ...]:
    """After "a" or "an": another period. After anything else ("this morning", "next week") what `choices_for` says."""
    if before in "ax" and (word in _PERIODS or word == "fortnight"):
        return _PERIODS
    if word == "hour":
        return _HOURS
    kind = next(kind for kind in _LASTING if word in words_of_class(kind))
    return choices_for(word, kind, "calendar") or ()


@dataclass(frozen=True, slots=True)
class Choice:
    """Characters [begin, end) of a stretch and what may stand there: () keeps them, None: they are not understood."""

    begin: int
    end: int
    choices: tuple[str, ...] | None


def pieces_of(text: str, reading: Reading) -> Iterator[Choice]:
    """The words of a stretch; "twenty third" is one piece, and the century before a year stays ("nineteen" eighty)."""
    words = read_words(text)
    counted = not _COUNTED.isdisjoint(words.classes)
    at = 0
    while at < len(words.classes):
        begin, end, two = words.begins[at], words.ends[at], words.classes[at : at + 2]
        if reading == "calendar" and two == "yr":
            end = words.ends[at + 1]
            choices: tuple[str, ...] | None = _COMPOUND_ORDINALS
            at += 1
        elif reading == "calendar" and (
            two in _CENTURY_AND_YEAR or (words.lowered[at] in ("a", "an") and two[1:] in _LASTING)
        ):
            choices = ()
        elif reading == "calendar" and words.classes[at] in _LASTING and (at > 0 or counted):
            choices = () if counted else _periods_like(words.lowered[at], words.classes[at - 1])
        else:
            grouped = _BESIDE_FIGURES.search(text, max(0, begin - 2), end + 2) is not None
            choices = choices_for(words.lowered[at], words.classes[at], reading, grouped)
            if choices and reading == "calendar" and two[1:] in _LASTING and words.lowered[at + 1].endswith("s"):
                choices = tuple(choice for choice in choices if choice not in ("one", "1"))  # "one nights"
        yield Choice(begin, end, choices)
        at += 1


def same_shape(text: str, draws: Draws, reading: Reading) -> str | None:
    """A surrogate for the whole stretch, or None where a word is not understood."""
    parts: list[str] = []
    at = 0
    for piece in pieces_of(text, reading):
        old = text[piece.begin : piece.end]
        if piece.choices is None:
            if reading != "dictated" and not any(map(str.isdigit, old)):
                return None
            new = scramble(old, draws)
        else:
            new = render(piece.choices[draws.below(len(piece.choices))], style_of(old)) if piece.choices else old
        parts += (text[at : piece.begin], new)
        at = piece.end
    return "".join((*parts, text[at:]))


def scramble(text: str, draws: Draws) -> str:
    """Figure for figure and letter for letter; a leading zero stays a zero and nothing else becomes one."""
    out = []
    for at, character in enumerate(text):
        if character.isdecimal():
            leading = at == 0 or not text[at - 1].isdecimal()
            if leading:
                out.append("0" if int(character) == 0 else str(1 + draws.below(9)))
            else:
                out.append(str(draws.below(10)))
        elif character.isalpha():
            letter = _LETTERS[draws.below(26)]
            out.append(letter.upper() if character.isupper() else letter)
        else:
            out.append(character)
    return "".join(out)


def email_like(text: str, names: ListDistribution, draws: Draws) -> str:
    """Another address at an example domain, written ("@") or said ("at ... dot") as the old one is."""
    name, domain = names.draw(draws), _DOMAINS[draws.below(len(_DOMAINS))]
    return f"{name}@example.{domain}" if "@" in text else f"{name} at example dot {domain}"


def url_like(text: str, draws: Draws) -> str:
    """Another web site at an example domain, with "." or "dot" as the old one has it."""
    domain = _DOMAINS[draws.below(len(_DOMAINS))]
    return f"www.example.{domain}" if "." in text else f"www dot example dot {domain}"
