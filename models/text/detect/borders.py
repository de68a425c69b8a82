"""Where a tagger's span begins and ends: not with a bridging word, a hesitation, a full stop or the 's of a possessive.

Letters of a name are never given up: what is cut off are words that name nothing, and marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sottovoce.models.records import Span
from sottovoce.models.text.detect import ENGLISH

_NAMES = ("PER", "LOC", "ORG")
_LOOSE = r"(?:and|or|but|uh|um|uhm|er|erm|hmm)"
_BRIDGE = r"(?:in|on|at|to|for|from|by|with|of|the|a|an|is|was|as)"  # at the end of any span, alone, and before a name
_FRONT = re.compile(rf"(?:{_LOOSE}\s+|['’]s\s+|[^\w@#$£€¥+('’&-]+)+", re.IGNORECASE)
_NAME_FRONT = re.compile(r"(?:(?:in|on|at|to|for|from|by|with|as|is)\s+)+", re.IGNORECASE)
_BACK = re.compile(rf"(?:\s+(?:{_LOOSE}|{_BRIDGE})|[\s,;:!?\"“”-]|(?<!\b\w)\.)+$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_EMPTY = re.compile(rf"\W*(?:(?:{_LOOSE}|{_BRIDGE}|['’]?s)\W*)*$", re.IGNORECASE)


def tidied(spans: Sequence[Span], text: str, code: str = ENGLISH) -> list[Span]:
    """English only: elsewhere these words are others."""
    if code != ENGLISH:
        return list(spans)
    kept = (_tidy(span, text) for span in joined(spans, text))
    return [span for span in kept if span is not None]


def joined(spans: Sequence[Span], text: str) -> list[Span]:
    """Names in one run of letters, apostrophes and hyphens are one: "O'BRIEN" is no three people."""
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        if last is not None and span.type in _NAMES and last.type in _NAMES and _one_word(text, last.end, span.begin):
            longer = max(last, span, key=lambda one: one.end - one.begin)
            result[-1] = Span(last.begin, span.end, longer.type, max(last.score, span.score), longer.detector)
        else:
            result.append(span)
    return result


def _one_word(text: str, end: int, begin: int) -> bool:
    between = text[end:begin]
    return between in ("", "'", "’", "-") and text[end - 1].isalnum() | (text[end - 1] in "'’-")


def _tidy(span: Span, text: str) -> Span | None:
    inside = text[span.begin : span.end]
    if _EMPTY.match(inside):
        return None
    front = _FRONT.match(inside)
    begin = span.begin + (front.end() if front else 0)
    if span.type in _NAMES and (bridge := _NAME_FRONT.match(text, begin, span.end)):
        begin = bridge.end()
    end = span.begin + len(_BACK.sub("", inside))
    if span.type == "PER":
        end -= 2 * bool(_POSSESSIVE.search(text[begin:end]))
    if end <= begin:
        return span
    return span if (begin, end) == (span.begin, span.end) else Span(begin, end, span.type, span.score, span.detector)
