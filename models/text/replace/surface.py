"""How a value is written: what is compared with the lists, and how a surrogate takes over the look of the original.

Only the letter case is taken over (lower, Title, UPPER), and a kept value is written anew in the same way: otherwise an
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


def words_in(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """The words of a stretch, as runs without white space."""
    return [match.span() for match in _WORD.finditer(text, begin, end)]
