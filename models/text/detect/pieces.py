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
    """`ids[i]` belongs to word `word_of[i]`, which covers characters [begin, end) = `words[word_of[i]]`. `case[i]`: see
    `case_of`."""

    ids: np.ndarray
    word_of: np.ndarray
    words: list[tuple[int, int]]
    case: np.ndarray


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
        return [_pieced(self._tokenizer.encode(encodable(text), add_special_tokens=False), text) for text in texts]


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


CASES = 5


def case_of(text: str, words: Sequence[tuple[int, int]]) -> np.ndarray:
    """What case tells of each word: 1 small letters or none, 2 a capital, 3 capitals throughout, 4 a capital that begins a
    sentence;
    0 everywhere in a text without both capitals and small letters, where it tells nothing."""
    cases = np.zeros(len(words), dtype=np.int64)
    if text.islower() or text.isupper() or text == text.lower():
        return cases
    begins = True
    for at, (begin, end) in enumerate(words):
        first = text[begin]
        if not first.isalnum():
            begins = begins or first in ".?!:"
            cases[at] = 1
            continue
        capital = first.isupper()
        throughout = capital and end - begin > 1 and text[begin:end].isupper()
        cases[at] = 3 if throughout else 1 if not capital else 4 if begins else 2
        begins = False
    return cases


def _pieced(encoding, text: str) -> Pieced:
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
    case = case_of(text, words)
    return Pieced(np.asarray(encoding.ids, dtype=np.int64), word_of, words, case[word_of] if len(words) else case)


class Network(ABC):
    """`biases`: the bias on the outside label that was tuned, by language where there are several; `type_bias`: what is added to
    the scores of a type, tuned as well. `seeds`: how far the surest word of a span must be above the outside label, by type."""

    def __init__(self, folder: Path, kept: dict[str, Any]):
        import onnxruntime

        self.names: list[str] = kept["labels"]
        self._bias: float = kept["outside_bias"]
        self._biases: dict[str, float] = kept.get("biases", {})
        by_type = kept.get("type_bias", {})
        self.seeds: dict[str, float] = kept.get("seeds", {})
        self.offsets = np.array([by_type.get(name.partition("-")[2], 0.0) for name in self.names])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / NETWORK), options, providers=["CPUExecutionProvider"])

    def bias(self, code: str) -> float:
        """The tuned bias for a language code, or the model's one bias where that language has none of its own."""
        return self._biases.get(code, self._bias)

    @abstractmethod
    def scored(self, texts: Sequence[str], code: str) -> list[Scored]:
        """The words of each text and their scores [words, labels], before the bias."""


class PieceNetwork(Network):
    """The network as a detector runs it: texts are cut into pieces, and long ones into windows."""

    def __init__(self, folder: Path, kept: dict[str, Any]):
        super().__init__(folder, kept)
        self._window: int = kept["window"]
        self._pieces = Pieces(folder / TOKENIZER)
        self._sees_case = any(one.name == "token_type_ids" for one in self._session.get_inputs())

    def scored(self, texts: Sequence[str], code: str) -> list[Scored]:
        pieced = self._pieces.encode(texts)
        return [(p.words, word_means(self._piece_scores(p), p.word_of, len(p.words))) for p in pieced]

    def _piece_scores(self, pieced: Pieced) -> np.ndarray:
        scores = np.zeros((len(pieced.ids), len(self.names)), dtype=np.float32)
        if len(pieced.ids):
            for window in windows(len(pieced.ids), self._window - 2):
                shown = slice(window.begin, window.end)
                logits = self._run(pieced.ids[shown], pieced.case[shown])
                kept = slice(window.keep_begin - window.begin, window.keep_end - window.begin)
                scores[window.keep_begin : window.keep_end] = logits[kept]
        return scores

    def _run(self, ids: np.ndarray, case: np.ndarray) -> np.ndarray:
        row = np.concatenate([[self._pieces.begin_id], ids, [self._pieces.end_id]])[None, :]
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row)}
        if self._sees_case:
            inputs["token_type_ids"] = np.pad(case, 1)[None, :]
        (logits,) = self._session.run(None, inputs)
        return logits[0, 1:-1]
