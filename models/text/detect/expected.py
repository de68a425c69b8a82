"""Where a name is expected: what stands before a place in a sentence says that one follows, whatever its words are.

"a table at one fish", "play something by massive attack", "how do i get from deal to sandwich", "invite joy and miles": the
network goes by the words. There every other label gains against the outside one, so that the tagger still says which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from sottovoce.models.text.detect.word_names import names_and_words

_NUMBER = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter|noon|midnight|\d\S*"
_NO_NAME = (
    rf"(?:{_NUMBER}|the|home|work|here|there|now|once|least|all|night|lunch|dinner|breakfast|any|some|an?|my|your|his|her|our"
    r"|their|this|that|these|those|it|me|you|him|them|us|what|which|where|when|if|today|tomorrow|tonight|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)\b"
)
_STOP = (
    r"(?=\s+(?:in|on|for|at|under|by|with|from|near|this|next|tomorrow|tonight|today|please|around|before|after|to|and\s+(?:i|we|then))\b"
    r"|\s*[,.;!?]|\s*$)"
)
_STRETCH = rf"(?!{_NO_NAME})((?:[^\W\d_][\w'’&-]*)(?:\s+[\w'’&-]+){{0,4}}?){_STOP}"
_GO = r"(?:get|drive|driving|ride|train|bus|flight|fly|way|far|travel|travelling|traffic|moving|move)"
_WORD = rf"(?!{_NO_NAME})([^\W\d_][\w'’-]*)"
_EXPECTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:table|reservation|booking)\b[^.?!,]{{0,24}}?\bat\s+{_STRETCH}",
        rf"\b(?:book|reserve)\s+(?!(?:table|tickets?|seats?|rooms?|flights?|taxi|cab|dinner|lunch|something|spot)\b){_STRETCH}"
        rf"(?=\s+for\s+(?:{_NUMBER})\b)",
        rf"\b(?:ring|call|phone|text)\s+{_WORD}(?=\s+back\b)",
        rf"\b(?:play|put\s+on|hear|listen\s+to)\b[^.?!,]{{0,40}}?\bby\s+{_STRETCH}",
        rf"\b{_GO}\s+from\s+{_WORD}(?=\s+to\b)",
        rf"\b{_GO}\s+from\s+[\w'’]+(?:\s+[\w'’]+)?\s+to\s+{_WORD}{_STOP}",
    )
)
_CUES = re.compile(r"\b(?:at|by|from|back|book|reserve)\b", re.IGNORECASE)
_AND = re.compile(r"\b(?:invite|tell|ask|text|call|with|have|has|did|are|for|and)\s+[\w'’]+\s+and\s+$", re.IGNORECASE)
_GAIN = 5.0
_OF_A_PAIR = 4.0


def raised(text: str, words: Sequence[tuple[int, int]], scores: np.ndarray, outside: int) -> np.ndarray:
    """The scores, with less on the outside label where a name is expected."""
    gains = dict(_gains(text, words))
    if not gains:
        return scores
    scores = scores.copy()
    for at, gain in gains.items():
        scores[at, outside] -= gain
    return scores


def _gains(text: str, words: Sequence[tuple[int, int]]) -> Iterator[tuple[int, float]]:
    if _CUES.search(text):
        for pattern in _EXPECTED:
            for match in pattern.finditer(text):
                yield from (
                    (at, _GAIN)
                    for at, (begin, end) in enumerate(words)
                    if match.start(1) <= begin < end <= match.end(1)
                )
    if " and " in text:
        for at, (begin, end) in enumerate(words):
            if text[begin:end].lower() in names_and_words() and _AND.search(text, max(0, begin - 40), begin):
                yield at, _OF_A_PAIR
