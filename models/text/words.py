"""Words and their classes: the alphabet in which the spoken patterns are written.

Each word of a text becomes one character, so that "twenty third of march" reads "yrfm" and a phrase is an ordinary
regular expression over classes. One dictionary look-up per word makes this quick, and positions in the class string
are positions in the list of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from text_to_num import alpha2digit

_CLASSES = {
    "z": "oh o zero nought naught",
    "d": "one two three four five six seven eight nine",
    "e": "ten eleven twelve",
    "t": "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "y": "twenty thirty forty fifty sixty seventy eighty ninety",
    "h": "hundred",
    "k": "thousand million billion",
    "u": "double triple treble quadruple",
    "l": "b c d e f g h j k l m n p q r s t u v w x y zed zee",
    "a": "a",
    "i": "i",
    "n": "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike oscar "
    "papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu",
    "r": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth",
    "m": "january february april june july august september october november december "
    "jan feb apr jun jul aug sep sept oct nov dec",
    "j": "march may mar",  # also verbs: a month only next to a day or a year
    "w": "monday tuesday wednesday thursday friday saturday sunday "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "R": "today tomorrow yesterday tonight",
    "V": "next last this coming following",
    "W": "week weeks weekend month months year years day days fortnight",
    "Z": "morning afternoon evening night mornings afternoons evenings nights",
    "N": "noon midnight midday",
    "X": "am pm",  # "Y", below: the same in two letters, which may also be spelled letters ("s a m")
    "O": "clock oclock o'clock o’clock",
    "Q": "quarter",
    "F": "half",
    "M": "minutes minute",
    "U": "hour hours hr hrs mins secs seconds decade decades",
    "A": "ago old later hence",
    "B": "aged age turning",
    "b": "to til till before",
    "p": "past after",
    "g": "at by around about until from between",
    "f": "of",
    "E": "in since born year",
    "G": "on",
    "T": "the",
    "&": "and",
    "o": "for",
    "s": "as like",
    ",": "uh um er erm then dash hyphen minus space slash stroke comma again",
    "+": "plus",
    "=": "is it's its was number no num id code are my",
    "C": "account acct reference ref booking confirmation pin passcode password order policy claim case ticket member "
    "membership customer passport licence license social ssn zip zipcode postcode postal serial tracking flight "
    "invoice sort routing iban insurance security extension ext apartment apt unit room badge patient",
    "P": "phone mobile cell telephone tel call text dial fax whatsapp",
    "K": "card visa mastercard amex credit debit",
    "L": "spell spelled spelt spelling letters",
    "$": "dollar dollars pound pounds euro euros cent cents pence penny bucks quid yen rupee rupees franc francs usd "
    "gbp eur",
}
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


def read_words(text: str) -> Words:
    begins, ends, lowered, classes = [], [], [], []
    class_of = _CLASS_OF.get
    for match in _WORD.finditer(text):
        word = match.group().lower()
        begins.append(match.start())
        ends.append(match.end())
        lowered.append(word)
        classes.append(class_of(word) or _other_class(word))
    return Words(begins, ends, lowered, "".join(classes))


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
    return tuple(_CLASSES[kind].split())


def all_words() -> Iterator[tuple[str, str]]:
    """Every word that has a class, and figures of every kind, each with its class."""
    yield from _CLASS_OF.items()
    for figures in ("1", "11", "20", "45", "1980", "1st"):
        yield figures, _other_class(figures)


def digit_words() -> tuple[str, ...]:
    return ("zero", *words_of_class("d"))


def digits_of(words: list[str]) -> str:
    """The figures that a run of number words dictates: "oh seven double four twenty one" -> "074421"."""
    plain, times = [], 1
    for word in words:
        if word in _TIMES:
            times = _TIMES[word]
            continue
        plain += ["zero" if word in _ZERO else word] * times
        times = 1
    return "".join(str(int(c)) for c in alpha2digit(" ".join(plain), "en", 0) if c.isdecimal())
