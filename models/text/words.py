"""Words and their classes: the alphabet in which the spoken patterns are written.

Each word of a text becomes one character, so that "twenty third of march" reads "yrfm" and a phrase is an ordinary
regular expression over classes. One dictionary look-up per word makes this quick, and positions in the class string
are positions in the list of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from text_to_num import alpha2digit

from sottovoce.models.text.languages import language

_CLASSES = language("en").classes
_CLASS_OF = {word: kind for kind, words in _CLASSES.items() for word in words.split()}
_CLASS_OF |= dict.fromkeys((f"{half}{gap}m" for half in "ap" for gap in (" ", ".", ". ", " .", " . ")), "Y") | {
    "fourty": "y"
}

_ZERO = frozenset(_CLASSES["z"].split())
_TIMES = {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}

MONTHS_SHORT = ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")

# "p m", "p.m." and "a m" are one word; so are "23rd", "23 rd" and "it's"; "6pm" is two. All else breaks at punctuation.
_WORD = re.compile(
    r"\d+(?=[ap]m\b)|\b[ap] ?\.? ?m\b|(?<!\w)\d{1,2} ?(?:st|nd|rd|th)\b|[^\W_]+(?:['’][^\W_]+)*", re.IGNORECASE
)
_ORDINAL = re.compile(r"(\d{1,2}) ?(?:st|nd|rd|th)", re.IGNORECASE)


@dataclass(slots=True)
class Words:
    """Where the words of a text stand, in lower case, and their classes (one character a word, 'x' for any other)."""

    begins: list[int]
    ends: list[int]
    lowered: list[str]
    classes: str


# Elsewhere a word is a run of letters, or figures with or without an ending ("7h", "1er"); some hold an apostrophe or a hyphen,
# and French numbers a blank ("quatre vingt dix sept").
_TEENS = r"(?:dix(?:[- ](?:sept|huit|neuf))?|onze|douze|treize|quatorze|quinze|seize)\b"
_PLAIN = re.compile(
    rf"\bquatre[- ]vingts?(?:[- ]{_TEENS}|\b)|\bsoixante[- ](?:et[- ])?{_TEENS}|\bdix[- ](?:sept|huit|neuf)\b|\b[ap]\. ?m\b"
    r"|aujourd['’]hui|après-midi|après-demain|week-end|avant-hier|meio-dia|meia-noite|\d+|[^\W\d_]+(?:-feira)?",
    re.IGNORECASE,
)


@cache
def class_table(code: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """How words are told apart in a language, and the class of each that has one."""
    if code == "en":
        return _WORD, _CLASS_OF
    classes = {word: kind for kind, words in language(code).classes.items() for word in words.split()}
    classes |= {word.replace("-", " "): kind for word, kind in classes.items() if "-" in word}
    return _PLAIN, classes | dict.fromkeys(("a.m", "p.m", "a. m", "p. m"), "X")


def read_words(text: str, code: str = "en") -> Words:
    """The words of a text in order; offsets are in characters, and anything between words has no class."""
    begins, ends, lowered, classes = [], [], [], []
    pattern, table = class_table(code)
    class_of = table.get
    for match in pattern.finditer(text):
        word = match.group().lower()
        begins.append(match.start())
        ends.append(match.end())
        lowered.append(word)
        classes.append(class_of(word) or (compound_class(word, code) if code != "en" else "") or _other_class(word))
    return Words(begins, ends, lowered, "".join(classes))


@lru_cache(maxsize=1 << 14)
def compound_class(word: str, code: str) -> str:
    """Numbers that are one word ("hundertfünfzig", "millenovecentotrenta"): '4' those that begin as a year does, '5' any other;
    nothing for other words."""
    pattern = _compounds(code)
    if pattern is None or not pattern.fullmatch(word):
        return ""
    return "4" if language(code).years and re.match(language(code).years, word) else "5"


@cache
def _compounds(code: str) -> re.Pattern[str] | None:
    """Of two parts at the least: a part alone is a number word with a class of its own, or none ("und")."""
    parts = language(code).compounds
    return re.compile(rf"(?=.*(?:{language(code).hundreds}))(?:{parts})+") if parts else None


def _other_class(word: str) -> str:
    """Figures by what they can be: '1' an hour, '2' a day, '3' a minute, '4' a year, '5' any other, 'q' an ordinal."""
    if not word[0].isdigit():
        return "x"
    if word.isdecimal():
        value = int(word) if len(word) <= 4 else 0
        if len(word) <= 2:
            return "1" if 1 <= value <= 12 else "2" if 13 <= value <= 31 else "3"
        return "4" if len(word) == 4 and 1900 <= value < 2100 else "5"
    ordinal = _ORDINAL.fullmatch(word)
    return "q" if ordinal and 1 <= int(ordinal[1]) <= 31 else "x"


def words_of_class(kind: str) -> tuple[str, ...]:
    """English words of a class, in the order of the table; a KeyError for an unknown class."""
    return tuple(_CLASSES[kind].split())


def all_words() -> Iterator[tuple[str, str]]:
    """Every word that has a class, and figures of every kind, each with its class."""
    yield from _CLASS_OF.items()
    for figures in ("1", "11", "20", "45", "1980", "1st"):
        yield figures, _other_class(figures)


def digit_words() -> tuple[str, ...]:
    """The ten figures as words, from "zero" to "nine": the place of a word is its value."""
    return ("zero", *words_of_class("d"))


def digits_of(words: list[str], code: str = "en") -> str:
    """The figures that a run of number words dictates: "oh seven double four twenty one" -> "074421"."""
    if code != "en":
        return _counted(words, language(code).values)
    plain, times = [], 1
    for word in words:
        if word in _TIMES:
            times = _TIMES[word]
            continue
        plain += ["zero" if word in _ZERO else word] * times
        times = 1
    return "".join(str(int(c)) for c in alpha2digit(" ".join(plain), "en", 0) if c.isdecimal())


def _counted(words: list[str], values: Mapping[str, int]) -> str:
    """Tens take the unit after them: "vierzig" "zwei" -> "42"."""
    found: list[str] = []
    open_tens = False
    for word in words:
        value = values.get(word)
        if value is not None and open_tens and value < 10:
            found[-1] = str(int(found[-1]) + value)
            open_tens = False
        elif value is not None:
            found.append(str(value))
            open_tens = value >= 20 and value % 10 == 0
        else:
            found.append("".join(str(int(c)) for c in word if c.isdecimal()))
            open_tens = False
    return "".join(found)
