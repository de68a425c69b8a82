"""Words as bags of hashed character n-grams (Bojanowski et al. 2017, arXiv 1607.04606): what a tagger of many languages reads.

A word is a run of letters and digits, or one punctuation mark, in lower case, every digit as 0. It becomes row numbers of one
table: one for the word itself where training has met it (`known_words.py`), one for each of its n-grams, so that an inflected
or unseen name keeps the parts that it shares with known ones, and one for each kind of list that has it (`known_lists.py`). The
first "word" of a text is its language.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.text.detect.known_lists import lists_with
from sottovoce.models.text.detect.known_words import KnownWords
from sottovoce.models.text.detect.pieces import Network, Scored

PADDING, HIDDEN, RESERVED = 0, 1, 48
LANGUAGE = 2  # the row of the first language; the others follow
LISTED = 32  # the row of the first kind of list
SIZES = (2, 3, 4)
MOST = 36
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
_DIGIT = re.compile(r"\d")


def words_of(text: str) -> list[tuple[int, int]]:
    """[begin, end) of each word."""
    return [match.span() for match in _WORD.finditer(text)]


def parts_begin(rows: int) -> int:
    """A quarter of the table is for whole words, which are never mistaken for parts."""
    return rows // 4


def plain_form(word: str) -> str:
    """Small letters, every digit as 0: what of a word is looked up."""
    return _DIGIT.sub("0", word.lower())


@lru_cache(maxsize=1 << 16)
def rows_of(word: str, code: str, rows: int, known: KnownWords | None = None) -> tuple[int, ...]:
    """The rows of a word of a language in a table of `rows`: the word (`PADDING` if it is not known), its lists, its parts."""
    plain = plain_form(word)
    first = parts_begin(rows)
    whole = RESERVED + _hash(plain) % (first - RESERVED) if known is None or (code, plain) in known else PADDING
    marked = f"<{plain}>"
    parts = dict.fromkeys(marked[at : at + size] for size in SIZES for at in range(len(marked) - size + 1))
    bag = (whole, *(LISTED + kind for kind in lists_with(plain, code)))
    return (*bag, *(first + _hash(part) % (rows - first) for part in list(parts)[: MOST - len(bag)]))


def _hash(part: str) -> int:
    return zlib.crc32(part.encode("utf-8", "replace"))


def encode(
    words: Sequence[str], code: str, language: int | None, rows: int, known: KnownWords | None = None
) -> np.ndarray:
    """[1 + words, n-grams], filled up with `PADDING`; the first row is the language."""
    bags = [
        (HIDDEN if language is None else LANGUAGE + language,),
        *(rows_of(word, code, rows, known) for word in words),
    ]
    grams = np.full((len(bags), max(map(len, bags))), PADDING, dtype=np.int64)
    for row, bag in zip(grams, bags, strict=True):
        row[: len(bag)] = bag
    return grams


class GramNetwork(Network):
    """The network as a detector runs it: read from a folder, it scores the words of texts in one language."""

    def __init__(self, folder: Path, kept: dict[str, Any]):
        super().__init__(folder, kept)
        self._rows: int = kept["rows"]
        self._known = KnownWords.read(folder)
        self._number = {code: at for at, code in enumerate(kept["languages"])}

    def scored(self, texts: Sequence[str], code: str) -> list[Scored]:
        return [self._one(text, code) for text in texts]

    def _one(self, text: str, code: str) -> Scored:
        words = words_of(text)
        if not words:
            return [], np.zeros((0, len(self.names)), dtype=np.float32)
        bags = encode([text[begin:end] for begin, end in words], code, self._number.get(code), self._rows, self._known)
        (logits,) = self._session.run(None, {"grams": bags[None]})
        return words, logits[0, 1:]
