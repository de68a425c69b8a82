"""When a word counts as found, and how sure a share is.

A word is found when every letter and digit of it is covered: a half covered name is a miss. The 's of a possessive counts
for nothing ("dale's": only "dale" tells who it is), and a punctuation mark on its own is no word.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from typing import Any

_POSSESSIVE = re.compile(r"['’]s$")


def stem(word: str) -> str:
    """The word without its possessive 's."""
    return _POSSESSIVE.sub("", word)


def signs(text: str, begin: int, word: str) -> list[int]:
    """Where the letters and digits that count stand; `word` begins at `begin` in the text."""
    return [at for at in range(begin, begin + len(stem(word))) if text[at].isalnum()]


def covers(covered: Sequence[Any], text: str, begin: int, word: str) -> bool | None:
    """None for what is no word. `covered` has something true at every character that a span covers."""
    places = signs(text, begin, word)
    return all(covered[at] for at in places) if places else None


def wilson(hit: int, of: int) -> tuple[float, float]:
    """The score interval of a proportion (Wilson 1927) at 95 %; (0, 1) where nothing was counted.

    In closed form, as `scipy.stats` has it to the last digits: that takes a second to load, in every run whose corpus is
    labelled."""
    if of == 0:
        return 0.0, 1.0
    share, z2 = hit / of, statistics.NormalDist().inv_cdf(0.975) ** 2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = math.sqrt(z2 * share * (1 - share) / of + (z2 / (2 * of)) ** 2) / (1 + z2 / of)
    return (middle - half if hit else 0.0), (middle + half if hit < of else 1.0)
