"""Which words a tagger of many languages has learnt, in 32 KB: a filter (Bloom 1970, doi 10.1145/362686.362692).

A table of hashed n-grams has a row for whatever word comes by, and for one that was never learnt it is the row of some other
word: what is read there is noise, and made organisations of onions. Words that are not known are read by their parts alone.
One in forty of the unknown is taken for known, none the other way round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

FILE = "known_words.npz"
_BITS = 1 << 18
_HASHES = 3


class KnownWords:
    """The words of each language that training data holds often enough, in small letters."""

    def __init__(self, bits: np.ndarray) -> None:
        self._bits = bits

    def __contains__(self, known: tuple[str, str]) -> bool:
        """`known`: (language, word)."""
        return all(self._bits[place >> 3] >> (place & 7) & 1 for place in _places(*known))

    @classmethod
    def of(cls, words: Iterable[tuple[str, str]]) -> KnownWords:
        """Those of a list of (language, word)."""
        bits = np.zeros(_BITS // 8, dtype=np.uint8)
        for code, word in words:
            for place in _places(code, word):
                bits[place >> 3] |= 1 << (place & 7)
        return cls(bits)

    @classmethod
    def read(cls, folder: Path) -> KnownWords | None:
        """Those of a tagger's folder; None for one that was built without."""
        path = folder / FILE
        return cls(np.load(path)["bits"]) if path.is_file() else None

    def write(self, folder: Path) -> None:
        """Keep them beside the network."""
        np.savez(folder / FILE, bits=self._bits)


def _places(code: str, word: str) -> list[int]:
    digest = hashlib.blake2b(f"{code} {word}".encode("utf-8", "replace"), digest_size=4 * _HASHES).digest()
    return [int.from_bytes(digest[at : at + 4], "little") % _BITS for at in range(0, 4 * _HASHES, 4)]
