"""How a value is written: what is compared with the lists, and how a surrogate takes over the look of the original.

Only the letter case is taken over (lower, Title, UPPER; word by word where there are as many words), and a kept value is
written anew in the same way: otherwise an
odd spelling would tell a kept value from a drawn one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from sottovoce.models.records import Edit, Span

Style = Literal["lower", "title", "upper"]

_SMALL_WORDS = frozenset(("of", "the", "and", "in", "at", "to", "past"))
_WORD = re.compile(r"\S+")


def canonical(text: str) -> str:
    """Lower case, single spaces, plain apostrophes."""
    return " ".join(text.casefold().replace("’", "'").split())


def style_of(text: str) -> Style:
    """Letter case of a text: upper only where it has two letters or more, title for any other with a capital."""
    cased = [character for character in text if character.islower() or character.isupper()]
    if not any(map(str.isupper, cased)):
        return "lower"
    return "upper" if len(cased) > 1 and all(map(str.isupper, cased)) else "title"


def render(value: str, style: Style) -> str:
    """A lower-case value in a letter case; small words inside a title ("of", "the") stay small."""
    if style == "lower":
        return value
    if style == "upper":
        return value.upper()
    words = value.split(" ")
    return " ".join(
        word if at and word in _SMALL_WORDS else word[:1].upper() + word[1:] for at, word in enumerate(words)
    )


def render_like(value: str, old: str) -> str:
    """A lower-case value in the letter case of `old`, word by word where their numbers of words agree."""
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


def article_edits(text: str, begin: int, value: str, others: Iterable[Edit]) -> Iterator[Edit]:
    """That of an "a" or "an" which does not fit the value that now stands behind it, unless others change it as well."""
    found = _ARTICLE.search(text, max(0, begin - 6), begin)
    if found is None or any(edit.begin < found.end(1) and found.start(1) < edit.end for edit in others):
        return
    fits = "an" if _VOWEL.match(value) else "a"
    if found[1].lower() == fits:
        return
    new = (
        fits.upper()
        if len(found[1]) > 1 and found[1].isupper()
        else fits.capitalize()
        if found[1][0].isupper()
        else fits
    )
    yield Edit(found.start(1), found.end(1), new)


_NOTHING_OWNED = re.compile(
    r"\s*(?:$|[.,;!?]|(?:and|or|on|in|at|to|for|from|by|with|is|are|was|were|please)\b)", re.IGNORECASE
)
_BEFORE_NAME = re.compile(r"\bthe\s+$", re.IGNORECASE)


def bare_name_edits(text: str, begin: int, end: int, others: Iterable[Edit]) -> Iterator[Edit]:
    """Takes "the" away from before a person's name: "a song by the beatles" has an article that no other name has. Not where
    something may follow to which it belongs: "the smith residence"."""
    found = _BEFORE_NAME.search(text, max(0, begin - 6), begin)
    if (
        found is not None
        and _NOTHING_OWNED.match(text, end)
        and not any(edit.begin < found.end() and found.start() < edit.end for edit in others)
    ):
        yield Edit(found.start(), found.end(), "")


_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)


def without_possessive(span: Span, text: str) -> Span:
    """Of "john's" John is somebody; the 's stays in the text. A name alone: "macy's" is one with it."""
    if span.type != "PER" or not _POSSESSIVE.search(text[span.begin : span.end]) or span.end - span.begin == 2:
        return span
    return Span(span.begin, span.end - 2, span.type, span.score, span.detector)


def words_in(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """The words of a stretch, as runs without white space."""
    return [match.span() for match in _WORD.finditer(text, begin, end)]
