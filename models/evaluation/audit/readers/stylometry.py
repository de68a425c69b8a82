"""How it is said, whatever is said: small words, marks, letters, lengths of words, as studies of authorship count them.

Shares of each text, standardised over all texts that are compared. Features that do not vary say nothing and are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from sottovoce.models.speech.speakers.plda import unit

_SMALL = """a about after all also am an and any are as at be because been but by can could did do does don't for from get go
got had has have he her here him his how i i'd i'll i'm if in into is it it's its just know like make me more my no
not now of oh okay on one only or other our out please she so some such sure than thank thanks that that's the their
them then there they this to too uh um up us very want was we well were what when where which who will with would
yeah yes you your"""
SMALL_WORDS = _SMALL.split()
MARKS = ".,;:!?'\"-()/&"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
LONGEST = 12
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


SIZES = range(1, LONGEST + 1)
PLACES = {
    name: place for place, name in enumerate((*SMALL_WORDS, *SIZES, *(("sign", sign) for sign in MARKS + LETTERS)))
}


class Stylometry:
    """Reads a text as shares of small words, marks and letters; each text is read once."""

    def __init__(self) -> None:
        self._known: dict[str, np.ndarray] = {}  # a text is compared within its sink and across sinks

    def setup(self) -> None:
        pass

    def read(self, texts: Sequence[str]) -> np.ndarray:
        self._known |= {text: _shares(text) for text in {*texts} - self._known.keys()}
        rows = np.array([self._known[text] for text in texts])
        spread = rows.std(axis=0)
        kept = (rows[:, spread > 0] - rows.mean(axis=0)[spread > 0]) / spread[spread > 0]
        return unit(kept) if kept.shape[1] else np.zeros((len(rows), 1))


def _shares(text: str) -> np.ndarray:
    lower = text.lower()
    words = WORD.findall(lower)
    said, written = max(len(words), 1), max(len(text), 1)
    row = np.zeros(len(PLACES) + 3)
    for counted, of in (
        (words, said),
        ((min(len(word), LONGEST) for word in words), said),
        ((("sign", sign) for sign in lower), written),
    ):
        for name, count in Counter(counted).items():
            if name in PLACES:
                row[PLACES[name]] = count / of
    row[-3:] = sum(sign.isupper() for sign in text) / written, np.log(said), len({*words}) / said
    return row
