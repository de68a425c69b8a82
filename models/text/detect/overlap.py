"""One clean list of spans out of many: the rule for overlaps, shared by the rules and by every ensemble.

Spans that share a character become one span over their union: coverage never shrinks. The union takes the type of its
longest member; among equally long ones the more specific type (`SPECIFIC` order), then the higher score, then the
earlier in the input. Spans are clipped to the text and widened to whole graphemes, so that no edit leaves a stray
accent, skin tone or joiner behind.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sottovoce.models.records import Span

SPECIFIC = ("IBAN", "CARD", "ID", "EMAIL", "URL", "PHONE", "AMOUNT", "TIME", "DATE", "PER", "LOC", "ORG", "CODE")
_RANK = {type_: rank for rank, type_ in enumerate(SPECIFIC)}
_JOINER = "\u200d"


def resolve(spans: Iterable[Span], text: str) -> list[Span]:
    """Sorted, not overlapping, inside the text; every character that any span covered is still covered."""
    plain = text.isascii()
    usable = []
    for span in spans:
        begin, end = max(0, span.begin), min(len(text), span.end)
        if begin < end:
            if not plain:
                begin, end = whole_graphemes(text, begin, end)
            if (begin, end) != (span.begin, span.end):
                span = Span(begin, end, span.type, span.score, span.detector)
            usable.append(span)
    if len(usable) < 2:
        return usable
    usable.sort(key=lambda span: span.begin)
    resolved, group, group_end = [], [usable[0]], usable[0].end
    for span in usable[1:]:
        if span.begin < group_end:
            group.append(span)
            group_end = max(group_end, span.end)
        else:
            resolved.append(_union(group, group_end))
            group, group_end = [span], span.end
    resolved.append(_union(group, group_end))
    return resolved


def _union(group: list[Span], end: int) -> Span:
    if len(group) == 1:
        return group[0]
    winner = max(group, key=lambda span: (span.end - span.begin, -_RANK.get(span.type, len(_RANK)), span.score))
    return Span(group[0].begin, end, winner.type, max(span.score for span in group), winner.detector)


def whole_graphemes(text: str, begin: int, end: int) -> tuple[int, int]:
    """Widen [begin, end) until no combining mark, variation selector or joined emoji is cut off from its character."""
    while begin > 0 and _continues(text, begin):
        begin -= 1
    while end < len(text) and _continues(text, end):
        end += 1
    return begin, end


def _continues(text: str, at: int) -> bool:
    """True where `text[at]` belongs to the character before it."""
    mark = text[at]
    if mark.isascii():
        return False
    joined = mark == _JOINER or text[at - 1] == _JOINER or "\U0001f3fb" <= mark <= "\U0001f3ff"
    return joined or unicodedata.category(mark) in ("Mn", "Me", "Mc")
