"""What is known of each language: its words for months, numbers, addresses and the like. One file a language, and one row here.

A word has a class, one character (`models/text/words.py`), and what is said is found by regular expressions over classes
(`models/text/detect/spoken_patterns.py`): a language gives its words, and what it says in an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from sottovoce.models.settings import resolve

TABLE = {
    "de": "sottovoce.models.text.languages.de:LANGUAGE",
    "en": "sottovoce.models.text.languages.en:LANGUAGE",
    "es": "sottovoce.models.text.languages.es:LANGUAGE",
    "fr": "sottovoce.models.text.languages.fr:LANGUAGE",
    "it": "sottovoce.models.text.languages.it:LANGUAGE",
    "lv": "sottovoce.models.text.languages.lv:LANGUAGE",
    "nl": "sottovoce.models.text.languages.nl:LANGUAGE",
    "pl": "sottovoce.models.text.languages.pl:LANGUAGE",
    "pt": "sottovoce.models.text.languages.pt:LANGUAGE",
}

# One of each, at the least: what no language is without (the laws in tests/models/text/test_languages.py go over the table).
REQUIRED_CLASSES = "zdetymwRWZUf"
_NATO = (
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike oscar papa quebec romeo sierra "
    "tango uniform victor whiskey whisky xray yankee zulu"
)


@dataclass(frozen=True)
class Language:
    """`names`: what else it is called. `classes`: its words by class. `values`: what its number words count. `at`, `dot`,
    `joins` (underscore, hyphen and the like), `slash`: signs of an address as they are said. `not_local`: words that no
    address begins with. `titles`: what stands before a surname; `titles_find`: whether the word after one is taken for a
    name. `introduces`: what people say before their own name; `hints`: what often stands before a given name; `kin`: what
    belongs to it; `not_names`, `not_name_ends`: words, and ends of words, that name nobody even there. `street_before`,
    `street_after`, `street_ends`: what makes a street; `not_streets`: what looks like one. `loose`: small words that begin no
    date or time of the rules. `compounds`: parts of numbers that are written as one word, `hundreds` those of which one must
    be there, `years` how a year begins. `dates`, `times`: patterns over classes, beside those that all share; H is an hour.
    `clock`, `ordinal`, `link`, `currencies`: parts of what is written ("7 uhr", "1er mai", "3 de mayo", "20 euro").
    `regions`: whose telephone numbers. `identifiers`: modules of python-stdnum, which know the check digits, or functions of
    ours; `asked_for`: those whose check says little of a bare number (any nine figures may be a social security number), so
    that a word of class I must stand before it. `domains_and_words`: ends of web addresses that are words of the language
    ("de")."""

    names: tuple[str, ...]
    classes: Mapping[str, str]
    values: Mapping[str, int]
    at: str
    dot: str
    joins: str
    slash: str
    not_local: str
    titles: str
    regions: tuple[str, ...]
    dates: str = ""
    times: str = ""
    clock: str = ""
    ordinal: str = ""
    link: str = ""
    currencies: str = ""
    identifiers: tuple[str, ...] = ()
    asked_for: tuple[str, ...] = ()
    titles_find: bool = True
    domains_and_words: str = ""
    introduces: str = ""
    hints: str = ""
    kin: str = ""
    not_names: str = ""
    not_name_ends: str = ""
    street_before: str = ""
    street_after: str = ""
    street_ends: str = ""
    not_streets: str = ""
    loose: str = ""
    compounds: str = ""
    hundreds: str = ""
    years: str = ""

    def words(self, kind: str) -> tuple[str, ...]:
        """Words of a class (one character); none where the language has no such class."""
        return tuple(self.classes.get(kind, "").split())


@cache
def language(code: str) -> Language:
    """The words and forms of a language that the table has, by its code ("de")."""
    found: Language = resolve(TABLE[code])
    return found


def numbers(
    units: str, teens: str, tens: str, compounds: Mapping[str, int] | None = None, also: Mapping[str, int] | None = None
) -> tuple[dict[str, str], dict[str, int]]:
    """(classes z d e t y, values) of number words: 0 to 9, 10 to 19, 20 to 90 by tens; `also`: other forms with what they count;
    `compounds`: numbers that are one word ("einundzwanzig")."""
    values = {word: at for at, word in enumerate(units.split())}
    values |= {word: 10 + at for at, word in enumerate(teens.split())}
    values |= {word: 20 + 10 * at for at, word in enumerate(tens.split())}
    values |= {**(compounds or {}), **(also or {})}
    classes: dict[str, list[str]] = {kind: [] for kind in "zdety"}
    for word, value in values.items():
        classes["z" if value == 0 else "d" if value < 10 else "e" if value < 13 else "t" if value < 20 else "y"].append(
            word
        )
    return {kind: " ".join(words) for kind, words in classes.items()}, values


def forms(stems: str, endings: Iterable[str]) -> str:
    """Every stem with every ending, for languages that inflect."""
    return " ".join(stem + ending for stem in stems.split() for ending in endings)


LETTERS = "b c d f g h j k l m n p q r s t v x"  # no word of one letter in any of the languages but English
SPELLING = _NATO
