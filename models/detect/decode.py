"""Scores per word -> spans. A bias on the outside label trades over-masking for recall.

p = softmax(scores - bias * [label is O]); a word is sensitive where the best label is not O. What is missed stays in the
clear, what is hit too much costs utility only: the bias is tuned on dev data towards recall and kept with the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.detect.overlap import resolve
from sottovoce.models.records import Span

OUTSIDE = "O"


def probabilities(scores: np.ndarray, outside: int, bias: float) -> np.ndarray:
    shifted = scores.astype(np.float64)
    shifted[:, outside] -= bias
    shifted = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def spans_of(
    text: str,
    words: Sequence[tuple[int, int]],
    scores: np.ndarray,
    names: Sequence[str],
    bias: float,
    detector: str,
    types: frozenset[str] | None = None,
) -> list[Span]:
    """Words in a row with one type make one span, unless a word's label begins with B- (two cities one after the other)."""
    if not words:
        return []
    outside = names.index(OUTSIDE)
    likely = probabilities(scores, outside, bias)
    spans: list[Span] = []
    previous = ""
    for (begin, end), row in zip(words, likely, strict=True):
        prefix, _, kind = names[int(row.argmax())].partition("-")
        if not kind or (types is not None and kind not in types):
            previous = ""
            continue
        score = float(1 - row[outside])
        if kind == previous and prefix != "B":
            last = spans.pop()
            spans.append(Span(last.begin, max(end, last.end), kind, min(last.score, score), detector))
        else:
            spans.append(Span(begin, end, kind, score, detector))
        previous = kind
    return resolve(spans, text)
