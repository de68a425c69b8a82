"""Any token-classification model of the Hugging Face kind, by hub name or folder: `hf:dslim/bert-base-NER`.

Scores of the pieces of a word are averaged, so that a word is never half masked. Long texts go through in windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.settings import require
from sottovoce.models.text.detect import CONTEXT
from sottovoce.models.text.detect.pieces import Pieced, Window, encodable, windows, word_means
from sottovoce.models.text.detect.tagger import spans_of
from sottovoce.models.text.detect.type_names import renamed


@dataclass
class HuggingFace:
    """`types` renames labels, e.g. {GPE: LOC}; `outside_bias` trades over-masking for recall. `device`: auto, cpu, cuda."""

    model: str
    device: str = "auto"
    batch_size: int = 32
    outside_bias: float = 0.0
    types: dict[str, str] = field(default_factory=dict)
    longest: int = 256

    def __post_init__(self) -> None:
        require(
            (bool(self.model), "model: give a hub name or a folder, such as hf:dslim/bert-base-NER"),
            (self.batch_size > 0, "batch_size: must be positive"),
            (self.longest >= 16, "longest: must be at least 16 word pieces"),
        )

    def setup(self) -> None:
        import torch
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        chosen = "cuda" if self.device == "auto" and torch.cuda.is_available() else self.device
        self._device = "cpu" if chosen == "auto" else chosen
        self._tokenizer = AutoTokenizer.from_pretrained(self.model, use_fast=True, trust_remote_code=False)
        model = AutoModelForTokenClassification.from_pretrained(self.model, trust_remote_code=False)
        self._model = model.to(self._device).eval()
        labels: dict[int, str] = self._model.config.id2label
        self._names = renamed([labels[at] for at in range(len(labels))], self.types)
        limit = min(self.longest, self._tokenizer.model_max_length)
        self._window = limit - self._tokenizer.num_special_tokens_to_add()

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        pieced = [self._encode(text) for text in texts]
        scores = [np.zeros((len(p.ids), len(self._names)), dtype=np.float32) for p in pieced]
        rows = [
            (at, window) for at, p in enumerate(pieced) if len(p.ids) for window in windows(len(p.ids), self._window)
        ]
        rows.sort(key=lambda row: row[1].end - row[1].begin)
        for first in range(0, len(rows), self.batch_size):
            self._run(pieced, rows[first : first + self.batch_size], scores)
        return [
            spans_of(text, p.words, word_means(s, p.word_of, len(p.words)), self._names, self.outside_bias, "hf")
            for text, p, s in zip(texts, pieced, scores, strict=True)
        ]

    def _encode(self, text: str) -> Pieced:
        safe = encodable(text)
        encoded = self._tokenizer(safe, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        words: list[tuple[int, int]] = []
        ids, word_of = [], []
        last = None
        for id_, word, (begin, end) in zip(
            encoded["input_ids"], encoded.word_ids(), encoded["offset_mapping"], strict=True
        ):
            while begin < end and text[begin].isspace():  # byte-level vocabularies count the blank before a word
                begin += 1
            if word != last:
                words.append((begin, end))
                last = word
            else:
                words[-1] = (min(begin, words[-1][0]), max(end, words[-1][1]))
            ids.append(id_)
            word_of.append(len(words) - 1)
        return Pieced(np.asarray(ids, dtype=np.int64), np.asarray(word_of, dtype=np.int64), words, np.zeros(len(ids)))

    def _run(self, pieced: Sequence[Pieced], rows: Sequence[tuple[int, Window]], scores: list[np.ndarray]) -> None:
        import torch

        parts = [pieced[at].ids[window.begin : window.end].tolist() for at, window in rows]
        inputs = [self._tokenizer.build_inputs_with_special_tokens(part) for part in parts]
        before = [_offset(whole, part) for whole, part in zip(inputs, parts, strict=True)]
        batch = self._tokenizer.pad({"input_ids": inputs}, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            logits = self._model(**batch).logits.float().cpu().numpy()
        for row, (at, window) in enumerate(rows):
            first = before[row] + window.keep_begin - window.begin
            kept = logits[row, first : first + window.keep_end - window.keep_begin]
            scores[at][window.keep_begin : window.keep_end] = kept

    def finds(self) -> None:
        return None

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="detect",
            mechanism="hf",
            says="A token-classification model of the operator's choice. Its recall on this corpus is not known here: "
            "measure it with `sottovoce evaluate detect`.",
            not_protected=(
                "what the model misses, or has no label for",
                CONTEXT,
            ),
            parameters={"model": self.model, "outside_bias": self.outside_bias, "types": dict(self.types)},
        )


def _offset(whole: list[int], part: list[int]) -> int:
    """How many special tokens stand before the pieces."""
    return next(at for at in range(len(whole)) if whole[at : at + len(part)] == part)
