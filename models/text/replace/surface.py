"""How a value is written: what is compared with the lists, and how a surrogate takes over the look of the original.

Only the letter case is taken over (lower, Title, UPPER; word by word where there are as many words), and a kept value is
written anew in the same way: otherwise an
odd spelling would tell a kept value from a drawn one.
"""

from __future__ import annotations

import re
from typing import Literal

Style = Literal["lower", "title", "upper"]

_SMALL_WORDS = frozenset(("of", "the", "and", "in", "at", "to", "past"))
_WORD = re.compile(r"\S+")


def canonical(text: str) -> str:
    """Lower case, single spaces, plain apostrophes."""
    return " ".join(text.casefold().replace("’", "'").split())


def style_of(text: str) -> Style:
    cased = [character for character in text if character.islower() or character.isupper()]
    if not any(map(str.isupper, cased)):
        return "lower"
    return "upper" if len(cased) > 1 and all(map(str.isupper, cased)) else "title"


def render(value: str, style: Style) -> str:
    if style == "lower":
        return value
    if style == "upper":
        return value.upper()
    words = value.split(" ")
    return " ".join(
        word if at and word in _SMALL_WORDS else word[:1].upper() + word[1:] for at, word in enumerate(words)
    )


def render_like(value: str, old: str) -> str:
    words, olds = value.split(" "), old.split()
    if len(words) != len(olds) or len({style_of(word) for word in olds}) == 1:
        return render(value, style_of(old))
    return " ".join(render(word, style_of(one)) for word, one in zip(words, olds, strict=True))


# How a value begins when it is said: "an hour", "a unit", "an 8", "an x".
_VOWEL = re.compile(
    r"(?!uni|use|usu|uti|eu|one|once|u[bkrs][aeiu])[aeiou]|hour|honest|heir|8|11(?!\d)|18(?!\d)|[fhlmnrsx]\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(an?)\s+$", re.IGNORECASE)


def article_before(text: str, begin: int, value: str) -> tuple[int, int, str] | None:
    """(begin, end, new) of an "a" or "an" that does not fit the value that now stands behind it."""
    found = _ARTICLE.search(text, max(0, begin - 6), begin)
    if found is None:
        return None
    fits = "an" if _VOWEL.match(value) else "a"
    if found[1].lower() == fits:
        return None
    new = (
        fits.upper()
        if len(found[1]) > 1 and found[1].isupper()
        else fits.capitalize()
        if found[1][0].isupper()
        else fits
    )
    return found.start(1), found.end(1), new


def words_in(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """The words of a stretch, as runs without white space."""
    return [match.span() for match in _WORD.finditer(text, begin, end)]
