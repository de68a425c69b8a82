"""What the training of a tagger of many languages reads: every word as its n-grams, and which words count as known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sottovoce.models.text.detect import grams
from sottovoce.models.text.detect.builder.batches import IGNORED
from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, TaggedExample
from sottovoce.models.text.detect.builder.recipe import TrainingMaterial
from sottovoce.models.text.detect.known_words import KnownWords

_MARKS = ".,;:!?"
Row = tuple[list[int], list[int], list[int]]


class Bank:
    """The n-grams of every word that was met, as one matrix: a text is then a list of numbers."""

    def __init__(
        self, rows: int, languages: Sequence[str], labels: Sequence[str], others: Sequence[str], known: KnownWords
    ) -> None:
        self._rows, self._languages, self._known = rows, languages, known
        self._labels = {name: at for at, name in enumerate(labels)}
        self._others = {name: at for at, name in enumerate(others)}
        self._number: dict[tuple[str, str], int] = {}
        first = [[grams.LANGUAGE + at] for at in range(len(languages))]
        self._bags = np.zeros((1 << 16, grams.MOST), dtype=np.int64)
        for number, bag in enumerate([[grams.HIDDEN], *first]):
            self._bags[number, : len(bag)] = bag
        self._used = 1 + len(languages)

    def number(self, word: str, code: str) -> int:
        """The number of a word of a language, which it gets when it is first met."""
        known = self._number.get((code, word))
        if known is None:
            known = self._number[code, word] = self._used
            self._used += 1
            if self._used > len(self._bags):
                self._bags = np.concatenate([self._bags, np.zeros_like(self._bags)])
            bag = grams.rows_of(word, code, self._rows, self._known)
            self._bags[known, : len(bag)] = bag
        return known

    def row(self, example: TaggedExample) -> Row:
        """Numbers, labels and other slots of the words; the language comes first and has no label."""
        code = example.language
        words = [1 + self._languages.index(code) if code in self._languages else 0]
        targets, others = [IGNORED], [IGNORED]
        for token, label, slot in zip(example.tokens, example.labels, aside_of(example), strict=True):
            for begin, end in grams.words_of(token):
                words.append(self.number(token[begin:end].lower(), code))
                targets.append(IGNORED if label == MIXED else self._labels.get(label, self._labels[OUTSIDE]))
                others.append(IGNORED if slot is None else self._others.get(slot, IGNORED))
                label = f"I-{label[2:]}" if label.startswith("B-") else label
        return words, targets, others

    def batches(
        self, rows: Sequence[Row], size: int, draw: np.random.Generator | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(words, targets, other slots) of equal length."""
        by_length: dict[int, list[Row]] = {}
        for at in draw.permutation(len(rows)) if draw is not None else range(len(rows)):
            by_length.setdefault(len(rows[at][0]), []).append(rows[at])
        groups = [
            some[at : at + size] for length, some in by_length.items() if length > 1 for at in range(0, len(some), size)
        ]
        for at in draw.permutation(len(groups)) if draw is not None else range(len(groups)):
            words, targets, others = zip(*groups[at], strict=True)
            yield np.asarray(words), np.asarray(targets), np.asarray(others)

    def bags(self, words: np.ndarray) -> np.ndarray:
        """[texts, words] of numbers -> [texts, words, n-grams], no wider than they need."""
        bags = self._bags[words]
        used = np.flatnonzero((bags != grams.PADDING).any((0, 1)))
        return bags[:, :, : 1 + int(used.max(initial=0))]


def aside_of(example: TaggedExample) -> list[str | None]:
    """The slot of each word that has no type; None where it has one, or where varying the words has hidden which one it was."""
    left = iter(example.aside)
    found: list[str | None] = []
    for token, label in zip(example.tokens, example.labels, strict=True):
        outside = label in (OUTSIDE, MIXED)
        found.append(
            next((slot for word, slot in left if word.rstrip(_MARKS) == token.rstrip(_MARKS)), None)
            if outside
            else None
        )
    return found


def known_words(material: TrainingMaterial, least: int) -> KnownWords:
    """The words that the training data of a language holds `least` times."""
    met = Counter(
        (example.language, grams.plain_form(token[begin:end]))
        for pool in material.pools.values()
        for example in pool
        for token in example.tokens
        for begin, end in grams.words_of(token)
    )
    return KnownWords.of(word for word, times in met.items() if times >= least)
