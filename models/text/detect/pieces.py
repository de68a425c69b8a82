"""Text as word pieces whose words keep their place in the text, for training and for detection alike.

A word is what the tokenizer's pre-tokenizer makes of it: a run of letters and digits, or one punctuation mark. Labels
are per word; the classifier's scores of its pieces are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True, repr=False)
class Pieced:
    """`ids[i]` belongs to word `word_of[i]`, which covers characters [begin, end) = `words[word_of[i]]`."""

    ids: np.ndarray
    word_of: np.ndarray
    words: list[tuple[int, int]]


class Pieces:
    """The word pieces of a `tokenizer.json`, without special tokens, truncation or padding."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.begin_id = self._tokenizer.token_to_id("[CLS]")
        self.end_id = self._tokenizer.token_to_id("[SEP]")
        self.pad_id = self._tokenizer.token_to_id("[PAD]")
        self.mask_id = self._tokenizer.token_to_id("[MASK]")

    def encode(self, texts: Sequence[str]) -> list[Pieced]:
        # One by one: encode_batch starts threads of its own, and a worker process has one core.
        return [_pieced(self._tokenizer.encode(encodable(text), add_special_tokens=False)) for text in texts]


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces [begin, end) are shown together; the scores of [keep_begin, keep_end) are taken from this window."""

    begin: int
    end: int
    keep_begin: int
    keep_end: int


def windows(length: int, size: int) -> Iterator[Window]:
    """Cover `length` pieces, each piece kept once, with a quarter of a window of context on either side of a seam."""
    context = size // 4
    begin = keep = 0
    while begin + size < length:
        end = begin + size
        yield Window(begin, end, keep, end - context)
        keep = end - context
        begin = keep - context
    yield Window(begin, length, keep, length)


def word_means(scores: np.ndarray, word_of: np.ndarray, words: int) -> np.ndarray:
    """Scores per piece -> scores per word."""
    total = np.zeros((words, scores.shape[1]), dtype=np.float64)
    np.add.at(total, word_of, scores)
    return total / np.maximum(np.bincount(word_of, minlength=words), 1)[:, None]


def encodable(text: str) -> str:
    """Lone surrogates have no UTF-8 form; a stand-in of the same length keeps every offset."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def _pieced(encoding) -> Pieced:
    words: list[tuple[int, int]] = []
    word_of = np.empty(len(encoding.ids), dtype=np.int64)
    last = None
    for at, (word, (begin, end)) in enumerate(zip(encoding.word_ids, encoding.offsets, strict=True)):
        if word != last:
            words.append((begin, end))
            last = word
        else:
            words[-1] = (min(begin, words[-1][0]), max(end, words[-1][1]))
        word_of[at] = len(words) - 1
    return Pieced(np.asarray(encoding.ids, dtype=np.int64), word_of, words)
