"""Examples as padded batches of word pieces. Batches hold utterances of like length: padding would otherwise dominate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, TaggedExample
from sottovoce.models.text.detect.coverage import stem
from sottovoce.models.text.detect.pieces import Pieced, Pieces

IGNORED = -1


@dataclass(frozen=True, slots=True, repr=False)
class Item:
    """One utterance ready for training: piece ids, the word of each piece, and a label number per word."""

    ids: np.ndarray
    case: np.ndarray
    word_of: np.ndarray
    targets: np.ndarray
    open_types: frozenset[str]
    corpus: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class PieceBatch:
    """`word_of` numbers the words over the whole batch; pieces without a word (begin, end, padding) carry -1. `corpora` names the
    corpus of each word."""

    ids: np.ndarray
    case: np.ndarray
    attention: np.ndarray
    word_of: np.ndarray
    targets: np.ndarray
    allowed: np.ndarray
    corpora: np.ndarray


def label_names(types: Sequence[str]) -> list[str]:
    """O, then B- and I- of each type in the given order: the order of the network's outputs."""
    return [OUTSIDE, *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]


def items(examples: Sequence[TaggedExample], pieces: Pieces, names: Sequence[str], longest: int) -> list[Item]:
    """Examples cut to `longest` pieces, begin and end marks included; those without any piece are dropped."""
    number = {name: at for at, name in enumerate(names)}
    pieced = pieces.encode([example.text for example in examples])
    return [_item(e, p, number, longest - 2) for e, p in zip(examples, pieced, strict=True) if len(p.ids)]


def _item(example: TaggedExample, pieced: Pieced, number: dict[str, int], longest: int) -> Item:
    ids, word_of = pieced.ids[:longest], pieced.word_of[:longest]
    token_ends = np.cumsum([len(token) + 1 for token in example.tokens])
    targets = np.full(int(word_of[-1]) + 1, IGNORED, dtype=np.int64)
    last = -1
    for word in range(len(targets)):
        token = int(np.searchsorted(token_ends, pieced.words[word][0], side="right"))
        label = example.labels[token]
        begin = pieced.words[word][0] - (int(token_ends[token - 1]) if token else 0)
        # The 's of a possessive is nobody's: "dale's" is PER up to the apostrophe.
        if label != MIXED and begin < len(stem(example.tokens[token])):
            if token == last and label.startswith("B-"):
                label = f"I-{label[2:]}"
            targets[word] = number.get(label, 0)
        last = token
    return Item(ids, pieced.case[:longest], word_of, targets, example.unlabelled, example.corpus)


def batches(
    source: Sequence[Item],
    pieces: Pieces,
    names: Sequence[str],
    pieces_per_batch: int,
    draw: np.random.Generator | None,
) -> Iterator[PieceBatch]:
    """With a `draw`, in random order and with random neighbours of like length; else in order of length."""
    jitter = draw.random(len(source)) * 3 if draw is not None else np.zeros(len(source))
    order = np.argsort([len(item.ids) for item in source] + jitter, kind="stable")
    groups: list[list[Item]] = []
    width = 0
    for at in order:
        item = source[int(at)]
        width = max(width, len(item.ids) + 2)
        if not groups or (len(groups[-1]) + 1) * width > pieces_per_batch:
            groups.append([])
            width = len(item.ids) + 2
        groups[-1].append(item)
    sequence = draw.permutation(len(groups)) if draw is not None else range(len(groups))
    for at in sequence:
        yield _batch(groups[int(at)], pieces, names)


def _batch(group: Sequence[Item], pieces: Pieces, names: Sequence[str]) -> PieceBatch:
    width = max(len(item.ids) for item in group) + 2
    ids = np.full((len(group), width), pieces.pad_id, dtype=np.int64)
    attention = np.zeros((len(group), width), dtype=np.int64)
    case = np.zeros((len(group), width), dtype=np.int64)
    word_of = np.full((len(group), width), -1, dtype=np.int64)
    allowed: list[np.ndarray] = []
    words = 0
    for row, item in enumerate(group):
        length = len(item.ids)
        ids[row, : length + 2] = [pieces.begin_id, *item.ids, pieces.end_id]
        attention[row, : length + 2] = 1
        case[row, 1 : length + 1] = item.case
        word_of[row, 1 : length + 1] = item.word_of + words
        words += len(item.targets)
        allowed.append(_allowed(item, names))
    targets = np.concatenate([item.targets for item in group])
    corpora = np.repeat([item.corpus for item in group], [len(item.targets) for item in group])
    return PieceBatch(ids, case, attention, word_of, targets, np.concatenate(allowed), corpora)


def _allowed(item: Item, names: Sequence[str]) -> np.ndarray:
    """Which labels a word may have: its own; an O may also be any type that its corpus does not label."""
    rows = np.zeros((len(item.targets), len(names)), dtype=bool)
    known = item.targets != IGNORED
    rows[np.flatnonzero(known), item.targets[known]] = True
    if item.open_types:
        free = np.array([name == OUTSIDE or name[2:] in item.open_types for name in names])
        rows[item.targets == 0] |= free
    rows[~known] = True
    return rows
