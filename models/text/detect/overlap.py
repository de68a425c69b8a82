"""One clean list of spans out of many: the rule for overlaps, shared by the rules and by every ensemble.

Spans that share a character become one span over their union: coverage never shrinks. The union takes the type of its
longest member; among equally long ones PER of the rules, which needs a cue beside it ("call april"), else the more specific
type (`SPECIFIC` order), then the higher score, then the earlier in the input. Spans are clipped to the text and widened to
whole graphemes, so that no edit leaves a stray accent, skin tone or joiner behind.

Before that a tagger's spans are tidied (`tidied`): they neither begin nor end with "and", a hesitation, a full stop or the 's of
a possessive, nor end with a preposition, and no name begins with one. Letters of a name are never given up: what is cut off are
words that name nothing, and marks. "of", "the" and "a" stay before a name: on dev data to cut them cost more recall than it
saved. Alone, or "the" and "early" before a time, they are nothing; nor is a unit taken for a
place ("in celsius"), or a car for a date. Of "Tom's bags" Tom is somebody.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from sottovoce.models.records import Span
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.languages import TABLE, language

SPECIFIC = ("IBAN", "CARD", "ID", "EMAIL", "URL", "PHONE", "AMOUNT", "TIME", "DATE", "PER", "LOC", "ORG", "CODE")
_RANK = {type_: rank for rank, type_ in enumerate(SPECIFIC)}
_JOINER = "\u200d"
_NAMES = ("PER", "LOC", "ORG")
_LOOSE = r"(?:and|or|but|uh|um|uhm|er|erm|hmm)"
_PREPOSITION = r"(?:in|on|at|to|for|from|by|with)"  # at the end of any span, alone, and before a name
_FRONT = re.compile(rf"(?:{_LOOSE}\s+|['’]s\s+|[^\w@#$£€¥+('’&-]+)+", re.IGNORECASE)
_NAME_FRONT = re.compile(rf"(?:(?:{_PREPOSITION}|as|is)\s+)+", re.IGNORECASE)
_BACK = re.compile(rf"(?:\s+(?:{_LOOSE}|{_PREPOSITION})|[\s,;:!?\"“”-]|(?<!\b\w)\.)+$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_BEFORE_TIME = re.compile(r"(?:(?:early|in\s+the|the)\s+)+", re.IGNORECASE)
_SMALL = re.compile(r"(?:\W*\b(?:the|a|an|of|early)\b)+\W*$", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|a|an)$", re.IGNORECASE)
_UNIT = re.compile(r"(?:degrees?\W*)?(?:degrees?|cel[sc]ius|fah?renheit|kelvin)\W*$", re.IGNORECASE)
_SHORT_UNIT = re.compile(r"(?:degrees?\s+|\bin\s+|\d\s*)[cf]$", re.IGNORECASE)  # with what stands before it
# A car is no date, as which the tagger takes it: a make, and one word more that is none ("a tesla by easter").
_DAY = (
    r"easter|christmas|xmas|thanksgiving|halloween|hanukkah|ramadan|diwali|eid|new\s+year|valentine|\w+day|to\w+row|tonight|next|this"
    r"|last|in|on|by"
)
_CAR = re.compile(
    r"\b(?:acura|audi|bmw|buick|cadillac|chevrolet|chevy|chrysler|citroen|dacia|dodge|fiat|ford|honda|hyundai|infiniti|jaguar|jeep"
    r"|kia|lexus|mahindra|maruti|maruthi|maruthy|mazda|mercedes|mitsubishi|nissan|opel|peugeot|pontiac|porsche|renault|skoda"
    r"|subaru|suzuki|tesla|toyota|vauxhall|volkswagen|volvo)(?:\W+(?:benz|suzuki))?"
    rf"(?:\W+(?!(?:{_DAY})\b)[^\W\d]+)?$",
    re.IGNORECASE,
)
_OWNED = re.compile(r"([A-Z]\w*)['’]s?\s+[a-z]")
_EMPTY = re.compile(rf"\W*(?:(?:{_LOOSE}|{_PREPOSITION}|as|is|['’]?s)\W*)*$", re.IGNORECASE)


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
    winner = max(group, key=_weight)
    return Span(group[0].begin, end, winner.type, max(span.score for span in group), winner.detector)


def _weight(span: Span) -> tuple[int, bool, int, float]:
    told_by_cue = span.detector == "rules" and span.type == "PER"
    return span.end - span.begin, told_by_cue, -_RANK.get(span.type, len(_RANK)), span.score


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


def tidied(spans: Sequence[Span], text: str, code: str = ENGLISH) -> list[Span]:
    """English only, elsewhere these words are others: there a form of address alone ("senhora") is nothing."""
    if code != ENGLISH:
        return without_titles(spans, text, code)
    kept = (_tidy(span, text) for span in joined(spans, text))
    return [span for span in kept if span is not None]


def without_titles(spans: Iterable[Span], text: str, code: str) -> list[Span]:
    """In other languages than English: names without the forms of address before and behind them, which are nothing alone."""
    if code not in TABLE:
        return list(spans)
    kept: list[Span] = []
    for span in spans:
        begin, end = span.begin, span.end
        if span.type in _NAMES:
            front = _titles(code).match(text, begin, end)
            begin = front.end() if front else begin
            back = _title_behind(code).search(text[begin:end])
            end = begin + back.start() if back else end
        if begin < end:
            kept.append(Span(begin, end, span.type, span.score, span.detector))
    return kept


def without_loose(spans: Iterable[Span], text: str, code: str) -> Iterator[Span]:
    """In other languages than English: dates and times of the rules without articles and prepositions before them."""
    loose = _loose(code)
    for span in spans:
        front = loose.match(text, span.begin, span.end) if span.type in ("DATE", "TIME") else None
        begin = front.end() if front and front.end() < span.end else span.begin
        yield Span(begin, span.end, span.type, span.score, span.detector)


@cache
def _titles(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{language(code).titles})\b\W*)+", re.IGNORECASE)


@cache
def _title_behind(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\W+(?:{language(code).titles})\b\W*)+$", re.IGNORECASE)


@cache
def _loose(code: str) -> re.Pattern[str]:
    words = "|".join(language(code).loose.split()) or "(?!)"
    return re.compile(rf"(?:(?:{words})\b['’]?\W*)+", re.IGNORECASE)


def joined(spans: Sequence[Span], text: str) -> list[Span]:
    """Names in one run of letters, apostrophes and hyphens are one ("O'BRIEN"); an article goes with its name."""
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        if last is not None and (_one_name(last, span, text) or _article_of(last, span, text)):
            longer = max(last, span, key=lambda one: one.end - one.begin)
            result[-1] = Span(last.begin, span.end, longer.type, max(last.score, span.score), longer.detector)
        else:
            result.append(span)
    return result


def _one_name(last: Span, span: Span, text: str) -> bool:
    between, sign = text[last.end : span.begin], text[last.end - 1]
    names = span.type in _NAMES and last.type in _NAMES
    return names and between in ("", "'", "’", "-") and (sign.isalnum() or sign in "'’-")


def _article_of(last: Span, span: Span, text: str) -> bool:
    beside = last.type == span.type and text[last.end : span.begin] == " "
    return beside and _ARTICLE.match(text, last.begin, last.end) is not None


def _is_nothing(span: Span, text: str) -> bool:
    inside = text[span.begin : span.end]
    if span.type in (*_NAMES, "DATE", "TIME") and _SMALL.match(inside):
        return True
    if span.type == "LOC" and (_UNIT.match(inside) or _SHORT_UNIT.search(text, max(0, span.begin - 10), span.end)):
        return True
    if span.type == "DATE" and _CAR.search(text, max(0, span.begin - 20), span.end):
        return True
    return _EMPTY.match(inside) is not None


def _tidy(span: Span, text: str) -> Span | None:
    inside = text[span.begin : span.end]
    if _is_nothing(span, text):
        return None
    front = _FRONT.match(inside)
    begin = span.begin + (front.end() if front else 0)
    if span.type in _NAMES and (bridge := _NAME_FRONT.match(text, begin, span.end)):
        begin = bridge.end()
    if span.type == "TIME" and (relation := _BEFORE_TIME.match(text, begin, span.end)):
        begin = relation.end()
    end = span.begin + len(_BACK.sub("", inside))
    if span.type == "PER":
        owner = _OWNED.match(text, begin, end)
        end = owner.end(1) if owner else end - 2 * bool(_POSSESSIVE.search(text[begin:end]))
    if end <= begin:
        return span
    return span if (begin, end) == (span.begin, span.end) else Span(begin, end, span.type, span.score, span.detector)
