"""Which public lists a word stands in: a hint for a tagger, never a verdict ("essen" is a town and a meal).

The lists are those that surrogates are drawn from. A quarter of their values, by hash, was taught to nothing and stands in no
list here either (`builder/lists.py`), so that what is found of unlisted names can be measured with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.lists import has_lists, listed
from sottovoce.models.text.languages import TABLE

_LISTS = ("given_names", "surnames", "places", "organisations")
KINDS = tuple(f"{name} {where}" for name in _LISTS for where in ("own", "other", "part"))
_ENDINGS = {"lv": "aāeēiīoōuūsšm", "pl": "aąeęioóuymwch"}
_SHORTEST = 3
_WORD = re.compile(r"[^\W_]+")


def lists_with(word: str, code: str) -> list[int]:
    """Numbers of `KINDS`: whole entries in the word's own language or in another one, and words of longer entries."""
    stem = _stem(word, code)
    found = []
    for name in _LISTS:
        whole, parts = _own(name, code)
        elsewhere, other_parts = _all(name)
        inside = stem in whole
        found += [
            kind
            for kind, holds in enumerate(
                (inside, not inside and word in elsewhere, stem in parts or word in other_parts),
                start=3 * _LISTS.index(name),
            )
            if holds
        ]
    return found


def is_given_name(word: str, code: str) -> bool:
    """Whether a given name of the language is this word, whatever its case ending; in small letters."""
    return _stem(word, code) in _own("given_names", code)[0]


def _stem(word: str, code: str) -> str:
    """Names that inflect are compared without their endings."""
    cut = word.rstrip(_ENDINGS.get(code, ""))
    return cut if len(cut) >= _SHORTEST else word


@cache
def _own(name: str, code: str) -> tuple[frozenset[str], frozenset[str]]:
    if not (code == ENGLISH or has_lists(code)):
        return frozenset(), frozenset()
    whole, parts = _divide(listed(code, name))
    return frozenset(_stem(word, code) for word in whole), frozenset(_stem(word, code) for word in parts)


@cache
def _all(name: str) -> tuple[frozenset[str], frozenset[str]]:
    return _divide(value for code in TABLE for value in listed(code, name))


def _divide(values: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """(entries of one word, words of longer entries)."""
    entries = [_WORD.findall(value.lower()) for value in values]
    whole = {words[0] for words in entries if len(words) == 1}
    return frozenset(whole), frozenset(word for words in entries if len(words) > 1 for word in words)
