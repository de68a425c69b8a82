"""Names and streets that a word beside them tells, in other languages than English: "frau weber", "mi chiamo rossi".

After a form of address, or where somebody says who they are, whatever word follows is a name, unless it has a class of its own
or is one that people say there ("pan powiedzieć"). After weaker cues ("meine schwester ...", "se llama ...") it takes a listed
given name: a song is called something as well. "opa heinrich" is one name. Streets are told by their ends ("goethestraße") or
by the word beside them ("ulica długa"), and take the number of the house.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from sottovoce.models.text.detect.known_lists import is_given_name
from sottovoce.models.text.languages import language
from sottovoce.models.text.words import Words

_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_PARTICLES = r"(?:de|da|do|dos|das|del|della|la|le|el|van|von|der|den|di|du|des|zu|ter|ten|al)"
_IS_PARTICLE = re.compile(_PARTICLES).fullmatch
_MOST, _SHORTEST = 2, 3  # words after the first one of a name, and their letters
_HOUSE = frozenset("zdetyhr12345")
_HOUSE_WORDS = 3


@cache
def _titled(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{language(code).titles})\.?\s+([^\W\d_]{{3,}})", re.IGNORECASE)


@cache
def _introduced(code: str) -> re.Pattern[str]:
    said = language(code).introduces or "(?!)"
    return re.compile(rf"(?<!\w)(?:{said})\s+((?:{_PARTICLES}\s+){{0,2}}{_WORD})", re.IGNORECASE)


@cache
def _hinted(code: str) -> re.Pattern[str]:
    own = language(code)
    return re.compile(
        rf"(?<!\w)(?:(?:{own.hints or '(?!)'})\s+|(?P<kin>(?:{own.kin or '(?!)'})\s+))(?P<name>{_WORD})", re.IGNORECASE
    )


@cache
def _street(code: str) -> re.Pattern[str]:
    own = language(code)
    joined = rf"(?:{_PARTICLES}\s+){{0,2}}"
    parts = [
        rf"{_WORD}(?:{own.street_ends})" if own.street_ends else "",
        rf"(?:{own.street_before})\s+{joined}{_WORD}" if own.street_before else "",
        rf"{_WORD}\s+(?:{own.street_after})" if own.street_after else "",
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(part for part in parts if part) or '(?!)'})(?!\w)", re.IGNORECASE)


def find_cued(text: str, words: Words, code: str) -> Iterator[tuple[int, int, str]]:
    """(begin, end, type) of the names and streets of one text."""
    own = language(code)
    if own.titles_find:
        for match in _titled(code).finditer(text):
            if _may_be_name(words, match.start(1), code):
                yield match.start(1), match.end(1), "PER"
    for match in _introduced(code).finditer(text):
        if _may_be_name(words, match.end() - len(match.group().split()[-1]), code):
            last = _further(text, words, bisect_left(words.begins, match.end()) - 1, code)
            yield match.start(1), words.ends[last], "PER"
    for match in _hinted(code).finditer(text):
        if is_given_name(match["name"].lower(), code):
            yield match.start("kin" if match["kin"] else "name"), match.end("name"), "PER"
    for match in _street(code).finditer(text):
        if _is_street(match.group().lower(), words, match, code):
            yield match.start(), _with_number(words, match.end()), "LOC"


def _word_at(words: Words, begin: int) -> int:
    """The number of the word that begins there; -1 for none."""
    at = bisect_left(words.begins, begin)
    return at if at < len(words.begins) and words.begins[at] == begin else -1


@cache
def _ordinary(code: str) -> frozenset[str]:
    own = language(code)
    return frozenset((*own.not_local.split(), *own.loose.split(), *own.not_names.split(), *own.titles.split("|")))


def _may_be_name(words: Words, begin: int, code: str) -> bool:
    """A word without a class, that is none of those which follow a cue and name nobody."""
    at = _word_at(words, begin)
    if at < 0 or words.classes[at] != "x" or words.lowered[at] in _ordinary(code):
        return False
    ends = language(code).not_name_ends
    return not (ends and re.search(rf"(?:{ends})$", words.lowered[at]))


def _further(text: str, words: Words, at: int, code: str) -> int:
    """The last word of a name that begins with word `at`; "de la" belongs to it where a word follows that may."""
    for _ in range(_MOST):
        after = at + 1
        while after < at + 3 and after < len(words.begins) and _IS_PARTICLE(words.lowered[after]):
            after += 1
        if after >= len(words.begins) or not text[words.ends[at] : words.begins[at + 1]].isspace():
            break
        if not _may_be_name(words, words.begins[after], code) or len(words.lowered[after]) < _SHORTEST:
            break
        at = after
    return at


def _is_street(found: str, words: Words, match: re.Match[str], code: str) -> bool:
    own = language(code)
    name = found.split()[0] if own.street_after else found.split()[-1]
    if name in _ordinary(code) or name in own.not_streets.split():
        return False
    at = _word_at(words, match.end() - len(name))
    return at < 0 or words.classes[at] not in "FGOUZ"


def _with_number(words: Words, end: int) -> int:
    """Where the street ends with the number of the house, if one follows."""
    at = last = bisect_left(words.begins, end)
    while last < len(words.begins) and last - at < _HOUSE_WORDS and words.classes[last] in _HOUSE:
        last += 1
    return words.ends[last - 1] if last > at else end
