"""Surrogates of the same shape, for numbers, codes, addresses, and dates and times that no list holds.

The shape is released exactly: how many figures, letters and words, in which order, with which signs, leading zeros and
link words ("of", "past", "at", "dot"). Everything else is drawn uniformly, so given its shape the value is gone.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sottovoce.models.text.replace.distribution import Draws, ListDistribution
from sottovoce.models.text.replace.surface import render, style_of
from sottovoce.models.text.words import MONTHS_SHORT, Words, digit_words, read_words, words_of_class

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
# Neither tells when, and what it belongs to changes: "two hours from now", "every other tuesday".
_STAYING = frozenset(("now", "every", "other", "each", "from", "early", "late", "mid"))
_HOLIDAYS = ("christmas", "easter", "halloween", "thanksgiving", "ramadan", "diwali", "hanukkah")
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_OF_A_MONTH = ("first", "second", "third", "fourth")  # "the second sunday of june"
_OF_A_DAY = tuple(str(hour) for hour in range(13, 24))  # "17.30"
_AN_HOUR = re.compile(
    r"(?:half|quarter\s+of|three\s+quarters\s+of)\s+an\s+hour\b|an\s+hour\b(?:\s+and\s+a\s+(?:half|quarter)\b)?(?!\s+and\b)",
    re.IGNORECASE,
)
_ABOUT_AN_HOUR = ("half an hour", "an hour", "an hour and a half", "an hour and a quarter", "three quarters of an hour")
UNIFORM = (_ABOUT_AN_HOUR, _OF_A_MONTH, _OF_A_DAY, _HOLIDAYS, _DECADES)
_MINUTES_BEHIND = re.compile(r"[:.h][0-5]\d(?![./-]?\d)", re.IGNORECASE)
_EXPLAINED = re.compile(r"[lai](?:o|sE?).")  # "m for mother", "s as in sierra"
_PART_OF = re.compile(r"r(?:[wW]|[de1][wW])")  # "the second sunday", "the first two weeks"
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
    if kind in "ai" and reading != "dictated":  # "a week and a half", "a tenner"
        return ()
    if kind in "lai":
        return _LETTERS
    if kind in "XY":
        return tuple(half if kind == "X" else f"{half[0]} m" for half in _HALVES)
    if kind == "q":
        return _ORDINAL_FIGURES
    if kind == "Z":
        return tuple(part for part in words_of_class("Z") if part.endswith("s") == word.endswith("s"))
    if word in _STAYING and reading == "calendar":
        return ()
    for alike in (_HOLIDAYS, _DECADES):
        if word in alike:
            return alike
    if kind == "6":
        return tuple(note for note in words_of_class("6") if note.endswith("s") == word.endswith("s"))
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
        return () if before == "x" else _HOURS  # "an hour and twenty minutes"
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
    at = 0
    while at < len(words.classes):
        read = None
        if reading == "calendar":
            read = _dated(text, words, at)
        elif reading == "dictated":
            read = _explained(text, words, at)
        if read is None:
            begin, end = words.begins[at], words.ends[at]
            grouped = _BESIDE_FIGURES.search(text, max(0, begin - 2), end + 2) is not None
            choices = choices_for(words.lowered[at], words.classes[at], reading, grouped)
            many = words.classes[at + 1 : at + 2] in _LASTING and words.lowered[at + 1].endswith("s")
            if choices and many and reading == "calendar":
                choices = tuple(choice for choice in choices if choice not in ("one", "1"))  # "one nights"
            read = at, choices
        last, choices = read
        yield Choice(words.begins[at], words.ends[last], choices)
        at = last + 1


Read = tuple[int, tuple[str, ...] | None]  # the last word of a piece, and what may stand there


def _dated(text: str, words: Words, at: int) -> Read | None:
    """A word of a date or time, or several that are one, where those beside it tell; None where the word alone does."""
    begin, end, two = words.begins[at], words.ends[at], words.classes[at : at + 2]
    if hours := _AN_HOUR.match(text, begin):
        return bisect_left(words.begins, hours.end()) - 1, _ABOUT_AN_HOUR
    if two == "yr":
        return at + 1, _COMPOUND_ORDINALS
    if two in _CENTURY_AND_YEAR or (words.lowered[at] in ("a", "an") and two[1:] in _LASTING):
        return at, ()
    counted = not _COUNTED.isdisjoint(words.classes)
    if two[0] in _LASTING and (at > 0 or counted):
        return at, () if counted else _periods_like(words.lowered[at], words.classes[at - 1])
    if _PART_OF.match(words.classes, at):
        return at, () if two[1] in _COUNTED else _OF_A_MONTH
    if two[0] == "2" and _MINUTES_BEHIND.match(text, end):
        return at, _OF_A_DAY
    return None


def _explained(text: str, words: Words, at: int) -> Read | None:
    """A letter with the word that explains it: "m for mother" becomes "b for bravo"."""
    found = _EXPLAINED.match(words.classes, at)
    if found is None:
        return None
    last = found.end() - 1
    link = text[words.ends[at] : words.begins[last]]
    return last, tuple(f"{known[0]}{link}{known}" for known in words_of_class("n"))


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
