"""Choose the bias on the outside label: the most recall that a stated amount of over-masking allows, on dev data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sottovoce.models.detect.builder.corpora import Example
from sottovoce.models.detect.decode import spans_of
from sottovoce.models.detect.measure import Measured, count
from sottovoce.models.detect.pieces import Pieces
from sottovoce.models.detect.tagger import TOKENIZER, Tagger

GRID = tuple(round(0.25 * step, 2) for step in range(-4, 21))


def tune_bias(
    folder: Path, names: Sequence[str], dev: Mapping[str, list[Example]], over_masking: float
) -> tuple[float, list[dict[str, float]]]:
    """(bias, what each bias of the grid would give). Each corpus counts the same, however large it is."""
    tagger = Tagger(model=str(folder))
    tagger.setup()
    pieces = Pieces(folder / TOKENIZER)
    scored = {corpus: _score(tagger, pieces, examples) for corpus, examples in dev.items() if examples}
    table = []
    for bias in GRID:
        results = [_measure(rows, names, bias) for rows in scored.values()]
        recalls = [result.entity_words.share for result in results if result.entity_words.of]
        hits = [result.other_words.share for result in results if result.other_words.of]
        table.append({"bias": bias, "recall": float(np.mean(recalls)), "over_masking": float(np.mean(hits))})
    fitting = [row for row in table if row["over_masking"] <= over_masking]
    return (fitting[-1]["bias"] if fitting else GRID[0]), table


def _score(tagger: Tagger, pieces: Pieces, examples: Sequence[Example]) -> list:
    pieced = pieces.encode([example.text for example in examples])
    return list(zip(examples, pieced, tagger.word_scores(pieced), strict=True))


def _measure(rows: Sequence, names: Sequence[str], bias: float) -> Measured:
    result = Measured()
    for example, pieced, scores in rows:
        count(example, spans_of(example.text, pieced.words, scores, names, bias, "tagger"), result)
    return result
