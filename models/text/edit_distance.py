"""Levenshtein's distance: in letters, words or phones, whatever the two sequences are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def edit_distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Fewest insertions, deletions and substitutions that turn one into the other."""
    row = np.arange(len(other) + 1)
    for number, item in enumerate(one, 1):
        replaced = row[:-1] + [item != candidate for candidate in other]
        best = np.concatenate([[number], np.minimum(replaced, row[1:] + 1)])
        row = np.minimum.accumulate(best - np.arange(len(best))) + np.arange(len(best))  # insertions, all at once
    return int(row[-1])
