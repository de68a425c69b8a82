"""What each bias on the outside label gives, and the choice among them on dev data.

Recall comes first: what is missed stays in the clear, what is hit too much costs utility only. The bias is the largest that
a stated over-masking allows (mean over the corpora), and larger still where a corpus would miss the wanted recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.text.detect import Detector
from sottovoce.models.text.detect.builder.corpora import Example
from sottovoce.models.text.detect.measure import Measured, count
from sottovoce.models.text.detect.overlap import resolve
from sottovoce.models.text.detect.tagger import Tagger

GRID = tuple(round(0.25 * step, 2) for step in range(-4, 21))
_CHUNK = 512


def curve(
    tagger: Tagger, others: Sequence[Detector], examples: Sequence[Example], biases: Sequence[float]
) -> Iterator[tuple[float, Measured]]:
    """What the tagger, together with other detectors, finds at each bias. The network runs once."""
    results = {bias: Measured() for bias in biases}
    for begin in range(0, len(examples), _CHUNK):
        chunk = examples[begin : begin + _CHUNK]
        texts = [example.text for example in chunk]
        scored = tagger.scored(texts)
        elsewhere = [[span for spans in found for span in spans] for found in _together(others, texts)]
        for bias, result in results.items():
            for example, one, also in zip(chunk, scored, elsewhere, strict=True):
                count(example, resolve([*tagger.spans(example.text, one, bias), *also], example.text), result)
    yield from results.items()


def _together(detectors: Sequence[Detector], texts: Sequence[str]) -> list[tuple]:
    found = [detector.detect(texts) for detector in detectors]
    return list(zip(*found, strict=True)) if found else [()] * len(texts)


def tune_bias(
    folder: Path, dev: Mapping[str, list[Example]], recall: float, over_masking: float
) -> tuple[float, list[dict[str, Any]]]:
    """(bias, what each bias of the grid gives on each corpus)."""
    tagger = Tagger(model=str(folder))
    tagger.setup()
    curves = {corpus: dict(curve(tagger, (), examples, GRID)) for corpus, examples in dev.items() if examples}
    table: list[dict[str, Any]] = [
        {
            "bias": bias,
            "recall": {corpus: points[bias].entity_words.share for corpus, points in curves.items()},
            "over_masking": {corpus: points[bias].other_words.share for corpus, points in curves.items()},
        }
        for bias in GRID
    ]
    # Shares of nothing are not a number: such a corpus asks for nothing.
    enough = [row["bias"] for row in table if not any(share < recall for share in row["recall"].values())]
    modest = [row["bias"] for row in table if np.nanmean(list(row["over_masking"].values())) <= over_masking]
    return max(min(enough, default=GRID[-1]), max(modest, default=GRID[0])), table
