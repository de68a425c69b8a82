"""Sums by unit and row of a table, in one pass on a CPU: torch would sort all places first and touch every number four times."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit
def sum_by_row(
    ids: np.ndarray, b: np.ndarray, rows: int, padding: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(unit, row, sum of its b) of each row that a unit looks up, then the squares of each unit by column, in double precision.

    ids [units, places], b [units, sources, width]: as many neighbouring places as there are places to a source share its b.
    """
    units, places = ids.shape
    share, width = places // b.shape[1], b.shape[2]
    whose, which = np.empty(units * places, np.int64), np.empty(units * places, np.int64)
    sums, squares = np.empty((units * places, width), b.dtype), np.zeros((units, width))
    slots, count = np.full(rows, -1), 0
    for unit in range(units):
        first = count
        for place in range(places):
            row, source = ids[unit, place], place // share
            if row == padding:
                continue
            slot = slots[row]
            if slot < first:  # of an earlier unit, or of none
                slots[row], whose[count], which[count] = count, unit, row
                for column in range(width):
                    sums[count, column] = b[unit, source, column]
                count += 1
            else:
                for column in range(width):
                    sums[slot, column] += b[unit, source, column]
        for slot in range(first, count):
            for column in range(width):  # each column by itself: a single sum would go number by number
                squares[unit, column] += np.float64(sums[slot, column]) ** 2
    return whose[:count], which[:count], sums[:count], squares


@numba.njit
def add_rows(whose: np.ndarray, which: np.ndarray, sums: np.ndarray, weights: np.ndarray, total: np.ndarray) -> None:
    """Add to each row of `total` what units have there, each times its weight."""
    for place in range(len(whose)):
        row, weight = which[place], weights[whose[place]]
        for column in range(sums.shape[1]):
            total[row, column] += weight * sums[place, column]
