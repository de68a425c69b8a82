"""Made values of every type: the frames of `values.tsv` with atoms drawn from lists and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

import numpy as np

from sottovoce.models.text.detect.builder import lists
from sottovoce.models.text.detect.builder.say_numbers import in_words

# Which lists a value in another language than English is made of; a name that stands twice is drawn twice as often.
LISTED = {
    "PER": (("given_names",), ("given_names",), ("surnames",), ("given_names", "surnames")),
    "LOC": (("places",),),
    "ORG": (("organisations",),),
}
# Frames that are labelled as another type: how long, how long ago, how old, and names that are spelled.
LABELLED_AS = {"STAY": "DATE", "AGO": "DATE", "AGE": "DATE", "SPELLED": "CODE"}
_ATOM = re.compile(r"\{(\w+)\}")
Generator = np.random.Generator
_T = TypeVar("_T")


def pick(draw: Generator, values: Sequence[_T]) -> _T:
    """One of the values, all equally likely."""
    return values[int(draw.integers(len(values)))]


def value(kind: str, draw: Generator, language: str = "", rare: bool = False) -> str:
    """A made value of a type, such as "the third of may" for DATE. In other languages than English: a listed name; with `rare`
    one that nothing was taught."""
    if lists.has_lists(language):
        return " ".join(pick(draw, lists.listed(language, part, rare)) for part in pick(draw, LISTED[kind]))
    return _ATOM.sub(lambda match: _atom(match[1], draw), pick(draw, frames()[kind]))


@cache
def frames() -> dict[str, tuple[str, ...]]:
    """{type: its frames}, with atoms such as {day} to fill; a frame that stands twice is drawn twice as often."""
    found: dict[str, list[str]] = {}
    for line in lists.lines_of("values.tsv"):
        kind, frame = line.split("\t")
        found.setdefault(kind, []).append(frame)
    return {kind: tuple(options) for kind, options in found.items()}


def _atom(name: str, draw: Generator) -> str:
    return ATOMS[name](draw) if name in ATOMS else pick(draw, lists.words(name))


def _city(draw: Generator) -> str:
    names, weights = lists.cities()
    return names[int(np.searchsorted(weights, draw.random()))]


def _street_name(draw: Generator) -> str:
    return pick(draw, (pick(draw, lists.last_names()), _city(draw), _atom("month", draw), _atom("ordinal", draw)))


def _digits(draw: Generator, fewest: int, most: int) -> str:
    return "".join(str(digit) for digit in draw.integers(0, 10, int(draw.integers(fewest, most + 1))))


def _spoken_digits(draw: Generator, fewest: int, most: int) -> str:
    words = " ".join(in_words(int(digit)) for digit in _digits(draw, fewest, most))
    return words.replace("zero", "oh") if draw.random() < 0.5 else words


def _letters(draw: Generator) -> str:
    return "".join(chr(97 + int(draw.integers(26))) for _ in range(int(draw.integers(1, 5))))


def _postcode(draw: Generator) -> str:
    """A British one, as it is written: "sw1a 2aa"."""
    letters = [chr(97 + int(at)) for at in draw.integers(0, 26, 4)]
    return f"{letters[0]}{letters[1]}{draw.integers(1, 30)} {draw.integers(10)}{letters[2]}{letters[3]}"


def _number(first: int, last: int, show: Callable[[int], str] = str) -> Callable[[Generator], str]:
    return lambda draw: show(int(draw.integers(first, last + 1)))


ATOMS: dict[str, Callable[[Generator], str]] = {
    "first": lambda draw: pick(draw, lists.first_names()),
    "last": lambda draw: pick(draw, lists.last_names()),
    "initial": lambda draw: pick(draw, lists.last_names())[0],
    "city": _city,
    "region": lambda draw: pick(draw, lists.regions()),
    "street_name": _street_name,
    "house": _number(1, 9999),
    "zip": _number(10000, 99999),
    "organisation": lambda draw: pick(draw, lists.organisations()),
    "brand": lambda draw: pick(draw, lists.brands()),
    "day": _number(1, 31),
    "month_number": _number(1, 12, "{:02d}".format),
    "year": _number(1930, 2029),
    "hour": _number(1, 12),
    "hour24": _number(13, 23),
    "hour_words": _number(1, 12, in_words),
    "minute": _number(0, 59, "{:02d}".format),
    "minute_words": _number(2, 59, in_words),
    "digits": lambda draw: _digits(draw, 3, 16),
    "digits3": lambda draw: _digits(draw, 3, 3),
    "digits4": lambda draw: _digits(draw, 4, 4),
    "digits5": lambda draw: _digits(draw, 3, 6),
    "letters": _letters,
    "spelled": lambda draw: " ".join(_letters(draw)),
    "spelled_name": lambda draw: " ".join(pick(draw, lists.last_names()).lower()[:9]).replace("  ", " "),
    "postcode": _postcode,
    "title": lambda draw: pick(draw, lists.titles()),
    "spoken_digits": lambda draw: _spoken_digits(draw, 3, 9),
    "spoken_phone": lambda draw: _spoken_digits(draw, 7, 11),
    "user": lambda draw: pick(draw, lists.first_names()).lower().replace(" ", ""),
    "money": _number(1, 5000),
    "money_words": _number(1, 5000, in_words),
}
