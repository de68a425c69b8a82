"""Which words of a long transcript were said in which stretch: by what a recogniser heard there.

Three words in a row that stand once in the transcript and once in what was heard are an anchor; the longest chain of anchors in
order holds the two together, and what lies between two anchors is short enough to be matched word by word. So an hour takes
little more than sixty minutes one by one, and a recogniser may be wrong about many words.
"""

from __future__ import annotations

import bisect
import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
IN_A_ROW = 3
LEAST_MATCHED = 0.5  # of what was heard in a stretch: less, and the transcript tells of something else


@dataclass(frozen=True, slots=True)
class Found:
    """Words [first, last] of the transcript that were heard in one stretch, and the share of what was heard that they are."""

    first: int
    last: int
    matched: float


def words_in(text: str) -> list[tuple[int, int]]:
    """Characters [begin, end) of each word."""
    return [match.span() for match in WORD.finditer(text)]


def found_in(text: str, heard: Sequence[str]) -> list[Found | None]:
    """`heard[i]` is what was heard in stretch i. None: nothing of the transcript was."""
    written = [_plain(match[0]) for match in WORD.finditer(text)]
    said = [(index, _plain(word)) for index, words in enumerate(heard) for word in WORD.findall(words)]
    own: dict[int, list[int]] = {}
    for place, other in _matched(written, [word for _, word in said]):
        own.setdefault(said[other][0], []).append(place)
    total = Counter(index for index, _ in said)
    return [
        Found(own[index][0], own[index][-1], len(own[index]) / total[index]) if index in own else None
        for index in range(len(heard))
    ]


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


def _matched(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal words, rising in both."""
    anchors = _chain(_unique(one), _unique(other))
    pairs: list[tuple[int, int]] = []
    at = (0, 0)
    for i, j in [*anchors, (len(one), len(other))]:
        blocks = difflib.SequenceMatcher(a=one[at[0] : i], b=other[at[1] : j], autojunk=False).get_matching_blocks()
        pairs += [(at[0] + b.a + k, at[1] + b.b + k) for b in blocks for k in range(b.size)]
        at = (i, j)
    return pairs


def _unique(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    rows = [tuple(words[i : i + IN_A_ROW]) for i in range(len(words) - IN_A_ROW + 1)]
    counts = Counter(rows)
    return {row: index for index, row in enumerate(rows) if counts[row] == 1}


def _chain(one: dict[tuple[str, ...], int], other: dict[tuple[str, ...], int]) -> list[tuple[int, int]]:
    """The longest run of common rows whose places rise in both."""
    common = sorted((index, other[row]) for row, index in one.items() if row in other)
    ends: list[int] = []  # the smallest last place of a chain of each length
    at: list[int] = []
    before: list[int] = [-1] * len(common)
    for number, (_, j) in enumerate(common):
        length = bisect.bisect_left(ends, j)
        before[number] = at[length - 1] if length else -1
        if length == len(ends):
            ends.append(j)
            at.append(number)
        else:
            ends[length], at[length] = j, number
    chain = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(common[number])
        number = before[number]
    return chain[::-1]
