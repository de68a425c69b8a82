"""A bias for each type, chosen on dev data by what a miss costs against a false alarm.

All is counted by words, and the corpora weigh alike: the mean over corpora of (miss_cost * words missed + words hit wrongly) by
word. Words that the rules hit are found either way; a hit that its corpus cannot judge costs half. One type after the other
takes the bias that is cheapest, until none changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.corpora import MIXED, TaggedExample
from sottovoce.models.text.detect.coverage import signs
from sottovoce.models.text.detect.rules import Rules
from sottovoce.models.text.detect.tagger import OUTSIDE, Tagger

STEPS = tuple(0.5 * step for step in range(-4, 5))
_UNTOLD = 0.5  # a hit that the corpus cannot judge costs half: it may be right
_ROUNDS = 4


@dataclass
class _Words:
    """Of every word of a corpus: scores, whether it is sensitive, whether a rule hits it, and the types that cannot be judged."""

    scores: np.ndarray
    gold: np.ndarray
    ruled: np.ndarray
    open_types: np.ndarray


def tune_types(
    tagger: Tagger, dev: Mapping[str, Sequence[TaggedExample]], miss_cost: float, start: float
) -> tuple[dict[str, float], float]:
    """({type: what is added to its scores}, cost), beside an outside bias of `start`. The tagger must be set up."""
    names = tagger.network(ENGLISH).names
    kinds = sorted({name[2:] for name in names if name != OUTSIDE})
    corpora = [_read(tagger, Rules(), examples, names) for examples in dev.values() if examples]
    offsets = dict.fromkeys(kinds, 0.0)
    cheapest = _cost(corpora, names, offsets, start, miss_cost)
    for _ in range(_ROUNDS):
        before = dict(offsets)
        for kind in kinds:
            tried = {
                step: _cost(corpora, names, offsets | {kind: step}, start, miss_cost) for step in sorted(STEPS, key=abs)
            }
            best = min(tried, key=lambda step: tried[step])
            if tried[best] < cheapest - 1e-6:
                offsets[kind], cheapest = best, tried[best]
        if offsets == before:
            break
    return offsets, cheapest


def _read(tagger: Tagger, rules: Rules, examples: Sequence[TaggedExample], names: Sequence[str]) -> _Words:
    rows, gold, ruled, open_types = [], [], [], []
    for example in examples:
        text = example.text
        hit = [False] * len(text)
        for span in rules.detect([text])[0]:
            hit[span.begin : span.end] = [True] * (span.end - span.begin)
        words, scores = tagger.network(ENGLISH).scored([text], ENGLISH)[0]
        begin = 0
        for token, label in zip(example.tokens, example.labels, strict=True):
            places = signs(text, begin, token)
            begin += len(token) + 1
            own = [at for at, (first, last) in enumerate(words) if places and first <= places[-1] and last > places[0]]
            if own and label != MIXED:
                rows.append(scores[own].mean(0))
                gold.append(label != OUTSIDE)
                ruled.append(all(hit[at] for at in places) if label != OUTSIDE else any(hit[at] for at in places))
                open_types.append([name[2:] in example.unlabelled for name in names])
    return _Words(np.array(rows), np.array(gold), np.array(ruled), np.array(open_types))


def _cost(
    corpora: Sequence[_Words], names: Sequence[str], offsets: Mapping[str, float], bias: float, miss_cost: float
) -> float:
    added = np.array([-bias if name == OUTSIDE else offsets[name[2:]] for name in names])
    total = 0.0
    for words in corpora:
        best = (words.scores + added).argmax(1)
        found = (best != names.index(OUTSIDE)) | words.ruled
        judged = ~words.open_types[np.arange(len(best)), best]
        missed = (words.gold & ~found).sum()
        wrong = (~words.gold & found & judged).sum() + _UNTOLD * (~words.gold & found & ~judged).sum()
        total += float(miss_cost * missed + wrong) / len(words.gold)
    return total / len(corpora)
