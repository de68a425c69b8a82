"""Pronunciations of words that no dictionary has, in the phones of the CMU dictionary, offline.

A letter and its phones are one token; a word is the likeliest sentence of such tokens under an n-gram, found by beam
search. `pronounce_training.py` made `pronounce.npz` and prints its error rate.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

MODEL_FILE = Path(__file__).with_name("pronounce.npz")
ORDER = 6
START, END = "<", ">"
BEAM = 16
UNSEEN = -20.0
BITS = 10  # tokens are numbered from 1 in ten bits: an n-gram is one number, and its end is a mask away
LONGEST = (1 << BITS * (ORDER - 1)) - 1


class Pronouncer:
    """Says how a word may sound by the most likely sequence of letter-to-phone pieces."""

    def __init__(self) -> None:
        self._probability, self._back_off, tokens = _loaded()
        self._by_letter: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, token in enumerate(tokens, 1):
            letter, colon, phones = token.partition(":")
            if colon:
                self._by_letter[letter].append((number, phones))
        self._start, self._end = tokens.index(START) + 1, tokens.index(END) + 1

    def pronounce(self, word: str, best: int = 2) -> list[str]:
        """The `best` likeliest pronunciations of a word of a-z and apostrophes; letters it never saw have no sound."""
        beam: list[tuple[float, int, tuple[str, ...]]] = [(0.0, self._start, ())]
        for letter in word:
            if letter not in self._by_letter:
                continue
            grown = []
            for score, history, phones in beam:
                for number, sound in self._by_letter[letter]:
                    step = self._log_probability(history, number)
                    longer = (history << BITS | number) & LONGEST
                    grown.append((score + step, longer, (*phones, sound) if sound else phones))
            beam = sorted(grown, key=lambda item: -item[0])[:BEAM]
        ended = sorted(((s + self._log_probability(h, self._end), p) for s, h, p in beam if p), reverse=True)
        return list(dict.fromkeys(" ".join(phones) for _, phones in ended))[:best]

    def _log_probability(self, history: int, number: int) -> float:
        """Back off to shorter histories until the n-gram is known."""
        backed_off = 0.0
        for order in range(-(-history.bit_length() // BITS), -1, -1):
            context = history & ((1 << BITS * order) - 1)
            found = self._probability.get(context << BITS | number)
            if found is not None:
                return backed_off + found
            backed_off += self._back_off.get(context, 0.0)
        return backed_off + UNSEEN


def pack(model: dict[tuple[str, ...], tuple[float, float]]) -> dict[str, Any]:
    """The model as arrays: token names, and per order the token numbers with their two figures."""
    tokens = sorted({key[0] for key in model if len(key) == 1})
    number = {token: i for i, token in enumerate(tokens)}
    arrays: dict[str, Any] = {"tokens": np.array(tokens)}
    for order in range(1, ORDER + 1):
        keys = sorted(tuple(number[token] for token in key) for key in model if len(key) == order)
        figures = [model[tuple(tokens[i] for i in key)] for key in keys]
        arrays[f"keys_{order}"] = np.array(keys, np.uint16).reshape(-1, order).T.copy()
        arrays[f"figures_{order}"] = np.array(figures, np.float16).reshape(-1, 2).T.copy()
    return arrays


@lru_cache(maxsize=1)
def _loaded() -> tuple[dict[int, float], dict[int, float], list[str]]:
    """Log probability by n-gram, log weight of backing off by context, and the tokens. An n-gram is one number."""
    probability: dict[int, float] = {}
    back_off: dict[int, float] = {}
    with np.load(MODEL_FILE) as arrays:
        for order in range(1, ORDER + 1):
            keys = np.zeros(arrays[f"keys_{order}"].shape[1], np.int64)
            for row in arrays[f"keys_{order}"]:
                keys = keys << BITS | (row.astype(np.int64) + 1)
            figures = arrays[f"figures_{order}"].astype(np.float64)
            probability.update(zip(keys.tolist(), figures[0].tolist(), strict=True))
            used = figures[1] != 0
            back_off.update(zip(keys[used].tolist(), figures[1][used].tolist(), strict=True))
        return probability, back_off, arrays["tokens"].tolist()
