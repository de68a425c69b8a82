"""What each bias on the outside label gives, and the choice among them on dev data.

Recall comes first: what is missed stays in the clear, what is hit too much costs utility only. The bias is the largest that
a stated over-masking allows (mean over the corpora), and larger still where a corpus would miss the wanted recall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.text.detect import ENGLISH, Detector
from sottovoce.models.text.detect.builder.corpora import TaggedExample
from sottovoce.models.text.detect.measure import Measured, count
from sottovoce.models.text.detect.overlap import resolve
from sottovoce.models.text.detect.rules import Rules
from sottovoce.models.text.detect.tagger import Tagger
from sottovoce.models.text.language import detect_in

GRID = tuple(round(0.25 * step, 2) for step in range(-4, 21))
_CHUNK = 512


def curve(
    tagger: Tagger,
    others: Sequence[Detector],
    examples: Sequence[TaggedExample],
    biases: Sequence[float],
    done: Callable[[int], None] = lambda utterances: None,
) -> Iterator[tuple[float, Measured]]:
    """What the tagger, together with other detectors, finds at each bias. The network runs once."""
    results = {bias: Measured() for bias in biases}
    for begin in range(0, len(examples), _CHUNK):
        chunk = examples[begin : begin + _CHUNK]
        texts = [example.text for example in chunk]
        codes = [example.language or ENGLISH for example in chunk]
        scored = [tagger.network(code).scored([text], code)[0] for text, code in zip(texts, codes, strict=True)]
        elsewhere = [[span for spans in found for span in spans] for found in _together(others, texts, codes)]
        for bias, result in results.items():
            for example, code, one, also in zip(chunk, codes, scored, elsewhere, strict=True):
                count(example, resolve([*tagger.spans(example.text, one, bias, code), *also], example.text), result)
        done(begin + len(chunk))
    yield from results.items()


def _together(detectors: Sequence[Detector], texts: Sequence[str], codes: Sequence[str]) -> list[tuple]:
    found = [
        [detect_in(detector, code, [text])[0] for text, code in zip(texts, codes, strict=True)]
        for detector in detectors
    ]
    return list(zip(*found, strict=True)) if found else [()] * len(texts)


def tune_languages(
    folder: Path, dev: Mapping[str, list[TaggedExample]], over_masking: float
) -> tuple[dict[str, float], dict[str, Measured]]:
    """The largest bias of each language with which the tagger and the rules together touch no more of its other words."""
    tagger, rules = Tagger(model=str(folder)), Rules()
    tagger.setup()
    grid = tuple(round(0.05 * step, 2) for step in range(0, 81))
    biases: dict[str, float] = {}
    reached: dict[str, Measured] = {}
    for examples in dev.values():
        points = dict(curve(tagger, (rules,), examples, grid))
        code = examples[0].language
        biases[code] = max((bias for bias in grid if points[bias].other_words.share <= over_masking), default=grid[0])
        reached[code] = points[biases[code]]
    return biases, reached


def tune_bias(
    folder: Path, dev: Mapping[str, list[TaggedExample]], recall: float, over_masking: float
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
