"""Text as word pieces whose words keep their place in the text, for training and for detection, and the network that reads them.

A word is what the tokenizer's pre-tokenizer makes of it: a run of letters and digits, or one punctuation mark. Labels
are per word; the classifier's scores of its pieces are averaged. Texts are run one by one: int8 activations are scaled by all
that is run together, and what is found in one person's text must not depend on somebody else's. (In batches it did so in 14 of
the 322 texts of the demo.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Scored = tuple[list[tuple[int, int]], np.ndarray]
NETWORK, SETTINGS, TOKENIZER, MEASURED = "tagger.onnx", "tagger.json", "tokenizer.json", "measured.json"


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


class Network(ABC):
    """`biases`: the bias on the outside label that was tuned, by language where there are several."""

    def __init__(self, folder: Path, kept: dict[str, Any]):
        import onnxruntime

        self.names: list[str] = kept["labels"]
        self._bias: float = kept["outside_bias"]
        self._biases: dict[str, float] = kept.get("biases", {})
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / NETWORK), options, providers=["CPUExecutionProvider"])

    def bias(self, code: str) -> float:
        return self._biases.get(code, self._bias)

    @abstractmethod
    def scored(self, texts: Sequence[str], code: str) -> list[Scored]:
        """The words of each text and their scores [words, labels], before the bias."""


class PieceNetwork(Network):
    def __init__(self, folder: Path, kept: dict[str, Any]):
        super().__init__(folder, kept)
        self._window: int = kept["window"]
        self._pieces = Pieces(folder / TOKENIZER)

    def scored(self, texts: Sequence[str], code: str) -> list[Scored]:
        pieced = self._pieces.encode(texts)
        return [(p.words, word_means(self._piece_scores(p), p.word_of, len(p.words))) for p in pieced]

    def _piece_scores(self, pieced: Pieced) -> np.ndarray:
        scores = np.zeros((len(pieced.ids), len(self.names)), dtype=np.float32)
        if len(pieced.ids):
            for window in windows(len(pieced.ids), self._window - 2):
                logits = self._run(pieced.ids[window.begin : window.end])
                kept = slice(window.keep_begin - window.begin, window.keep_end - window.begin)
                scores[window.keep_begin : window.keep_end] = logits[kept]
        return scores

    def _run(self, ids: np.ndarray) -> np.ndarray:
        row = np.concatenate([[self._pieces.begin_id], ids, [self._pieces.end_id]])[None, :]
        (logits,) = self._session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})
        return logits[0, 1:-1]
