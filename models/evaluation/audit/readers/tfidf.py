"""What is said and how it is written: TF-IDF of words, pairs of words and stretches of three letters.

As scikit-learn's TfidfVectorizer with sublinear counts gives it (a test compares), in one pass and without the two seconds that
loading it takes, which would be a good part of a small audit.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Counted = dict[str, Counter[str]]


class Tfidf:
    """Reads texts as weighted counts, whose weights come from the texts that are compared."""

    def __init__(self) -> None:
        self._known: dict[Callable[[str], Iterator[str]], Counted] = {_words: {}, _letters: {}}  # as by stylometry

    def setup(self) -> None:
        pass

    def read(self, texts: Sequence[str]) -> Any:
        """Half of words and pairs of words, half of stretches of letters."""
        from scipy.sparse import hstack

        for grams, known in self._known.items():
            known |= {text: Counter(grams(text.lower())) for text in {*texts} - known.keys()}
        parts = (_weighed(texts, known) for known in self._known.values())
        return hstack([part * np.sqrt(0.5, dtype=np.float32) for part in parts]).tocsr()


def _weighed(texts: Sequence[str], known: Counted) -> Any:
    from scipy.sparse import csr_matrix

    columns: dict[str, int] = {}
    counted: dict[str, tuple[list[int], list[int]]] = {}  # of each text that is there, however often
    for text in texts:
        if text not in counted:
            found = known[text]
            counted[text] = [columns.setdefault(gram, len(columns)) for gram in found], list(found.values())
    lengths = [len(counted[text][0]) for text in texts]
    places = np.fromiter((place for text in texts for place in counted[text][0]), np.int32, sum(lengths))
    counts = np.fromiter((count for text in texts for count in counted[text][1]), np.float32, sum(lengths))
    of_texts = np.bincount(places, minlength=max(len(columns), 1))
    weights = (1 + np.log(counts)) * (np.log((1 + len(texts)) / (1 + of_texts)) + 1)[places]
    row = np.repeat(np.arange(len(texts)), lengths)
    norms = np.sqrt(np.bincount(row, weights=weights**2, minlength=len(texts)))
    values = (weights / np.maximum(norms, 1e-12)[row]).astype(np.float32)
    return csr_matrix((values, (row, places)), shape=(len(texts), max(len(columns), 1)))


def _words(text: str) -> Iterator[str]:
    words = text.split()
    yield from words
    yield from (f"{first} {second}" for first, second in itertools.pairwise(words))


def _letters(text: str) -> Iterator[str]:
    for word in text.split():
        framed = f" {word} "
        yield from (framed[place : place + 3] for place in range(len(framed) - 2))
