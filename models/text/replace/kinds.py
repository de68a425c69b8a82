"""From a span to the units that are replaced, each with the list that its value belongs to.

Which list is chosen must not tell more than the ledger says is released: the type, the form of a date or time, the
gender of a listed given name, the place of a word in a name, and words outside the span ("mister" before a surname).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sottovoce.models.records import Span
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.languages import language
from sottovoce.models.text.replace.address import is_address
from sottovoce.models.text.replace.public_lists import class_of, guessed_gender
from sottovoce.models.text.replace.shape import UNIFORM, Reading, choices_for, pieces_of
from sottovoce.models.text.replace.surface import canonical, without_possessive, words_in
from sottovoce.models.text.words import all_words

LISTED = {"PER": "given_names", "LOC": "places", "ORG": "organisations", "DATE": "dates", "TIME": "times"}
READING: dict[str, Reading] = {
    "PHONE": "dictated", "CARD": "dictated", "CODE": "dictated", "IBAN": "dictated",
    "ID": "dictated", "AMOUNT": "amount",
}  # fmt: skip
# Drawn for a date or time that neither list nor shape understands.
FALLBACK = {"DATE": "dates/weekday", "TIME": "times/spoken pm"}

_TITLES = r"(?:mr|mrs|ms|miss|mister|missus|doctor|dr|prof|professor|sir|madam)\.?\s+"
_TITLE = re.compile(rf"(?:^|\W){_TITLES}$", re.IGNORECASE)
_TITLED = re.compile(_TITLES, re.IGNORECASE)

Key = str | tuple[str, ...]  # the key of a list, or the values of a uniform one


@dataclass(frozen=True, slots=True, repr=False)
class Unit:
    """Characters [begin, end), their canonical value and its list; no key: always replaced by the same shape, or in another
    language (`code`) by a value of that language; `surname`: a form of address stands before it."""

    begin: int
    end: int
    type: str
    value: str
    key: Key | None
    code: str = ENGLISH
    surname: bool = False

    def __repr__(self) -> str:
        return "<Unit: sensitive>"


def units_in(code: str, text: str, span: Span, by_word: bool) -> Iterator[Unit]:
    """In other languages: the entity as a whole, a person word by word where the strategy works so."""
    stretches = words_in(text, span.begin, span.end) if by_word and span.type == "PER" else [(span.begin, span.end)]
    titled = bool(_titles(code).search(text, max(0, span.begin - 20), span.begin))
    for at, (begin, end) in enumerate(stretches):
        yield Unit(begin, end, span.type, canonical(text[begin:end]), None, code, surname=at > 0 or titled)


@functools.cache
def _titles(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|\W)(?:{language(code).titles})\.?\s+$", re.IGNORECASE)


def named(text: str, span: Span) -> Span:
    """Of a person, the name alone: "dr" before it and the 's behind it stay in the text."""
    if span.type != "PER":
        return span
    title = _TITLED.match(text, span.begin, span.end)
    begin = title.end() if title and title.end() < span.end else span.begin
    return without_possessive(Span(begin, span.end, span.type, span.score, span.detector), text)


def entity_unit(text: str, span: Span, keep_gender: bool) -> Unit:
    """The span as one unit; of a person without title and possessive 's."""
    span = named(text, span)
    value = canonical(text[span.begin : span.end])
    return Unit(span.begin, span.end, span.type, value, _entity_key(text, span, value, keep_gender))


def word_units(text: str, span: Span, keep_gender: bool) -> Iterator[Unit]:
    """A unit per word, link words of dates aside; an address, and any span of a type without a list, is one unit."""
    span = named(text, span)
    if span.type in ("DATE", "TIME"):
        yield from _date_words(text, span)
    elif span.type == "LOC" and is_address(canonical(text[span.begin : span.end])):
        yield entity_unit(text, span, keep_gender)
    elif span.type in LISTED:
        whole = canonical(text[span.begin : span.end])
        one = "" if " " in whole else "/one"
        for at, (begin, end) in enumerate(words_in(text, span.begin, span.end)):
            value = canonical(text[begin:end])
            if span.type != "PER":
                key = f"{_place_key(whole) if span.type == 'LOC' else LISTED[span.type]}{one}/words"
            elif at or _surname_alone(text, span):
                key = "surnames"
            else:
                key = _given_key(value, keep_gender)
            yield Unit(begin, end, span.type, value, key)
    else:
        yield entity_unit(text, span, keep_gender)


def _entity_key(text: str, span: Span, value: str, keep_gender: bool) -> Key | None:
    if span.type not in LISTED:
        return None
    if span.type in ("DATE", "TIME"):
        return class_of()[LISTED[span.type]].get(value)
    if span.type == "LOC":
        return None if is_address(value) else _place_key(value)
    if span.type != "PER":
        return LISTED[span.type]
    words = value.split(" ")
    if len(words) == 1:
        return "surnames" if _surname_alone(text, span) else _given_key(value, keep_gender)
    return f"{_given_key(words[0], keep_gender)}+surnames"


def _place_key(value: str) -> str:
    """A city for a place that no list has."""
    return class_of()["places"].get(value, "places/city")


def _given_key(value: str, keep_gender: bool) -> str:
    """A name outside the list is always replaced: by one of the gender that its ending has in the list."""
    return (class_of()["given_names"].get(value) or guessed_gender(value)) if keep_gender else "given_names"


def _surname_alone(text: str, span: Span) -> bool:
    return not any(map(str.isspace, text[span.begin : span.end])) and bool(
        _TITLE.search(text, max(0, span.begin - 12), span.begin)
    )


def _date_words(text: str, span: Span) -> Iterator[Unit]:
    """Months for months, numbers for numbers; link words ("of", "past") stay and are no units."""
    stretch = text[span.begin : span.end]
    for piece in pieces_of(stretch, reading="calendar"):
        if piece.choices != ():
            value = canonical(stretch[piece.begin : piece.end])
            yield Unit(span.begin + piece.begin, span.begin + piece.end, span.type, value, piece.choices)


@functools.lru_cache(maxsize=1)
def uniform_lists() -> frozenset[tuple[str, ...]]:
    """Every uniform list that a word of a date or time may get."""
    found = {choices_for(word, kind, "calendar", grouped) for word, kind in all_words() for grouped in (True, False)}
    compound = next(pieces_of("twenty first", reading="calendar")).choices
    return frozenset(choices for choices in (*found, compound, *UNIFORM) if choices)
