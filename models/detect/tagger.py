"""The neural detector that ships: a small encoder as int8 ONNX, for lower-cased speech transcripts and written text.

MiniLM (Wang et al. 2020, arXiv 2002.10957), six layers, with a linear layer over word pieces; trained by
`models/detect/builder` (see `weights/MODEL_CARD.md`). The tokenizer ignores case, so "call john" and "Call John" are one
and the same input. At run time there is no torch: onnxruntime with one thread, since parallelism comes from processes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.detect.decode import spans_of
from sottovoce.models.detect.pieces import Pieced, Pieces, Window, windows, word_means
from sottovoce.models.errors import RunError
from sottovoce.models.records import LedgerEntry, Span
from sottovoce.models.settings import require

SHIPPED = Path(__file__).with_name("weights")
Scored = tuple[list[tuple[int, int]], np.ndarray]
NETWORK, SETTINGS, TOKENIZER, MEASURED = "tagger.onnx", "tagger.json", "tokenizer.json", "measured.json"


@dataclass
class Tagger:
    """`model`: a folder that `sottovoce build text` wrote; empty for the shipped one. `outside_bias` overrides the
    model's own: higher finds more and masks more. `types` limits what is reported."""

    model: str = ""
    outside_bias: float | None = None
    types: tuple[str, ...] = ()
    pieces_per_batch: int = 256  # larger ones hold more padding, and are no quicker by piece

    def __post_init__(self) -> None:
        require(
            (self.pieces_per_batch >= 64, "pieces_per_batch: must be at least 64"),
            (not self.model or Path(self.model).is_dir(), f"model: {self.model!r} is not a folder"),
        )
        self._folder = Path(self.model) if self.model else SHIPPED
        self._session: Any = None

    def setup(self) -> None:
        import onnxruntime

        if not (self._folder / NETWORK).is_file():
            raise RunError(
                f"{self._folder / NETWORK}: no such file; expected a folder that `sottovoce build text` wrote"
            )
        kept = json.loads((self._folder / SETTINGS).read_text("utf-8"))
        self._names: list[str] = kept["labels"]
        self._window: int = kept["window"]
        self._bias = kept["outside_bias"] if self.outside_bias is None else self.outside_bias
        self._pieces = Pieces(self._folder / TOKENIZER)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(self._folder / NETWORK), options, providers=["CPUExecutionProvider"]
        )

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        # Each text once. Nothing is kept for later batches: int8 activations are scaled by the batch, and what a retry or
        # another number of workers finds must not depend on what a process has seen before.
        once = list(dict.fromkeys(texts))
        found = {text: self.spans(text, one, self._bias) for text, one in zip(once, self.scored(once), strict=True)}
        return [list(found[text]) for text in texts]

    def scored(self, texts: Sequence[str]) -> list[Scored]:
        """The words of each text and their scores [words, labels], before the bias."""
        pieced = self._pieces.encode(texts)
        return [(p.words, scores) for p, scores in zip(pieced, self._word_scores(pieced), strict=True)]

    def spans(self, text: str, scored: Scored, bias: float) -> list[Span]:
        words, scores = scored
        return spans_of(text, words, scores, self._names, bias, "tagger", frozenset(self.types) or None)

    def _word_scores(self, pieced: Sequence[Pieced]) -> list[np.ndarray]:
        scores = [np.zeros((len(p.ids), len(self._names)), dtype=np.float32) for p in pieced]
        rows = [
            (at, window)
            for at, p in enumerate(pieced)
            if len(p.ids)
            for window in windows(len(p.ids), self._window - 2)
        ]
        rows.sort(key=lambda row: row[1].end - row[1].begin)  # like lengths together: no padding to speak of
        group: list[tuple[int, Window]] = []
        for row in rows:
            if group and (len(group) + 1) * (row[1].end - row[1].begin + 2) > self.pieces_per_batch:
                self._run(pieced, group, scores)
                group = []
            group.append(row)
        if group:
            self._run(pieced, group, scores)
        return [word_means(s, p.word_of, len(p.words)) for s, p in zip(scores, pieced, strict=True)]

    def _run(self, pieced: Sequence[Pieced], group: Sequence[tuple[int, Window]], scores: list[np.ndarray]) -> None:
        width = max(window.end - window.begin for _, window in group) + 2
        ids = np.full((len(group), width), self._pieces.pad_id, dtype=np.int64)
        attention = np.zeros((len(group), width), dtype=np.int64)
        for row, (at, window) in enumerate(group):
            length = window.end - window.begin
            ids[row, 0], ids[row, length + 1] = self._pieces.begin_id, self._pieces.end_id
            ids[row, 1 : length + 1] = pieced[at].ids[window.begin : window.end]
            attention[row, : length + 2] = 1
        (logits,) = self._session.run(None, {"input_ids": ids, "attention_mask": attention})
        for row, (at, window) in enumerate(group):
            first = 1 + window.keep_begin - window.begin
            kept = logits[row, first : first + window.keep_end - window.keep_begin]
            scores[at][window.keep_begin : window.keep_end] = kept

    def ledger(self) -> LedgerEntry:
        measured = read_measured(self._folder, "tagger")
        return LedgerEntry(
            stage="detect",
            mechanism="tagger",
            says="A neural tagger finds people, places, organisations, dates, times and codes. " + quote(measured),
            not_protected=(
                "what it misses: see the measured recall; on other domains it may be lower",
                "every language but English",
                "whatever the context gives away: job, relations, rare events",
            ),
            parameters={"model": self._folder.name if self.model else "shipped", "outside_bias": self.outside_bias,
                        "types": list(self.types), "measured": measured},
        )  # fmt: skip


def read_measured(folder: Path, detector: str) -> dict[str, dict[str, Any]]:
    """{set: {recall, interval, over_masking, command}} of a detector, as `sottovoce evaluate detect` wrote it."""
    path = folder / MEASURED
    return json.loads(path.read_text("utf-8")).get(detector, {}) if path.is_file() else {}


def quote(measured: dict[str, dict[str, Any]]) -> str:
    """One sentence with the recall on each set, and what share of the sensitive words stays in the clear."""
    if not measured:
        return "Its recall has not been measured: count on any share of the sensitive words staying in the clear."
    parts = [
        f"{name} {100 * row['recall']:.1f} % (95 % interval {100 * row['interval'][0]:.1f} to {100 * row['interval'][1]:.1f})"
        for name, row in measured.items()
    ]
    worst = 1 - min(row["recall"] for row in measured.values())
    best = 1 - max(row["recall"] for row in measured.values())
    return (
        f"Share of sensitive words found: {'; '.join(parts)}. "
        f"On text like these sets, expect {100 * best:.1f} to {100 * worst:.1f} % of the sensitive words in the clear."
    )
