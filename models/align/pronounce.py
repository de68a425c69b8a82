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


class Pronouncer:
    def __init__(self) -> None:
        self._model, self._tokens = _loaded()
        self._by_letter: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, token in enumerate(self._tokens):
            letter, colon, phones = token.partition(":")
            if colon:
                self._by_letter[letter].append((number, phones))
        self._end = self._tokens.index(END)
        self._start = self._tokens.index(START)

    def pronounce(self, word: str, best: int = 2) -> list[str]:
        """The `best` likeliest pronunciations of a word of a-z and apostrophes; letters it never saw have no sound."""
        beam: list[tuple[float, tuple[int, ...], tuple[str, ...]]] = [(0.0, (self._start,), ())]
        for letter in word:
            if letter not in self._by_letter:
                continue
            grown = []
            for score, history, phones in beam:
                for number, sound in self._by_letter[letter]:
                    step = self._log_probability(history, number)
                    grown.append((score + step, (*history, number)[1 - ORDER :], (*phones, sound) if sound else phones))
            beam = sorted(grown, key=lambda item: -item[0])[:BEAM]
        ended = sorted(((s + self._log_probability(h, self._end), p) for s, h, p in beam if p), reverse=True)
        return list(dict.fromkeys(" ".join(phones) for _, phones in ended))[:best]

    def _log_probability(self, history: tuple[int, ...], number: int) -> float:
        backed_off = 0.0
        for begin in range(len(history) + 1):
            found = self._model.get((*history[begin:], number))
            if found is not None:
                return backed_off + found[0]
            context = self._model.get(history[begin:])
            backed_off += context[1] if context else 0.0
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
def _loaded() -> tuple[dict[tuple[int, ...], tuple[float, float]], list[str]]:
    model: dict[tuple[int, ...], tuple[float, float]] = {}
    with np.load(MODEL_FILE) as arrays:
        for order in range(1, ORDER + 1):
            keys = map(tuple, arrays[f"keys_{order}"].T.tolist())
            model.update(zip(keys, map(tuple, arrays[f"figures_{order}"].T.tolist()), strict=True))
        return model, arrays["tokens"].tolist()
