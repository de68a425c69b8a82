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
from sottovoce.models.text.detect.ordinary import NAMES, is_ordinary
from sottovoce.models.text.languages import TABLE, language

SPECIFIC = ("IBAN", "CARD", "ID", "EMAIL", "URL", "PHONE", "AMOUNT", "TIME", "DATE", "PER", "LOC", "ORG", "CODE")
_RANK = {type_: rank for rank, type_ in enumerate(SPECIFIC)}
_JOINER = "\u200d"
_LOOSE = r"(?:and|or|but|uh|um|uhm|er|erm|hmm)"
_PREPOSITION = r"(?:in|on|at|to|for|from|by|with)"  # at the end of any span, alone, and before a name
_FRONT = re.compile(rf"(?:{_LOOSE}\s+|['’]s\s+|[^\w@#$£€¥+('’&-]+)+", re.IGNORECASE)
_NAME_FRONT = re.compile(rf"(?:(?:{_PREPOSITION}|as|is|near|my|your|his|her|our|their)\s+)+", re.IGNORECASE)
_TITLE = re.compile(
    r"(?:(?:mr|mrs|ms|miss|mister|missus|nurse|auntie|aunty)\b\.?\s*)+(?=\w)", re.IGNORECASE
)  # "dr" stays
_BACK = re.compile(rf"(?:\s+(?:{_LOOSE}|{_PREPOSITION})|[\s,;:!?\"“”-]|(?<!\b\w)\.)+$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
# What stands before a value of a type and is no part of it: relations, and words that say what kind of value follows.
_HOUR = (
    r"(?:\d|one\b|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b|eleven\b|twelve\b|noon\b|midnight\b)"
)
_BEFORE = {
    "TIME": re.compile(
        rf"(?:(?:early|in\s+the|the|(?:before|about|around|approximately|starting)(?=\s+{_HOUR}))\s+)+",
        re.IGNORECASE,
    ),
    "DATE": re.compile(
        r"(?:an?\s+(?=(?:\S+\s+){1,3}old\b)|(?:his|her|their|my)\s+(?=\w+ties\b)|in\s+(?=(?:january|february|march|april|may|june|july"
        r"|august|september|october|november|december)\b)|(?:of|till|until|starting|beginning|aged|d\.?o\.?b\.?|born(?:\s+on)?|date)\b[\s:.]*)+(?=\w)",
        re.IGNORECASE,
    ),
    "CODE": re.compile(
        r"(?:(?:flight|number|reference|account|order|code|(?:p\W?\s?o\W?\s)?box|is)\b\W*)+(?=\w)", re.IGNORECASE
    ),
    "EMAIL": re.compile(r"(?:(?:e?mail|address)(?:['’]s)?|is|at)\s+(?=\S+\s?(?:@|at\b))", re.IGNORECASE),
}
_BEHIND = {
    "TIME": re.compile(r"(?<!from)\s+(?:sharp|exactly|now|instead|please)\W*$", re.IGNORECASE),
    "DATE": re.compile(r"(?<!from)\s+(?:now|instead|please)\W*$", re.IGNORECASE),
}
_PAUSE = r"(?:uh|um|uhm|erm|hmm|no\s+(?:wait|sorry)|wait|sorry|i\s+mean)\b"
_HESITATION = rf"[\s,.]+{_PAUSE}[\s,.]*(?:{_PAUSE}[\s,.]*)*"
_ARTICLE = re.compile(r"(?:the|a|an)$", re.IGNORECASE)
_THING = (
    r"(?:brother|sister|wife|husband|mother|father|mum|mom|dad|son|daughter|friend|boss|birthday|party|wedding|house|home|place|flat|car"
    r"|bag|bags|flight|phone|number|desk|office|room|email|message|account|appointment|meeting|present|dog|cat|recital|anniversary)"
)
_OWNED = re.compile(r"([A-Z]\w*)['’]s?\s+[a-z]")
_SEAM = {
    "DATE": re.compile(
        r"\s+(?:(?:starting|beginning)\s+(?:(?:on|from)\s+)?|(?:from|through|until|till)\s+(?=the\b))", re.IGNORECASE
    ),
    "PER": re.compile(rf"['’]s\s+{_THING}\b\s*|{_HESITATION}", re.IGNORECASE),
} | {name: re.compile(_HESITATION, re.IGNORECASE) for name in ("LOC", "ORG")}
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
    whole = joined(spans, text)
    kept = (_tidy(part, text) for span in whole for part in _parts(span, text))
    return [span for span in kept if span is not None]


def without_titles(spans: Iterable[Span], text: str, code: str) -> list[Span]:
    """In other languages than English: names without the forms of address before and behind them, which are nothing alone."""
    if code not in TABLE:
        return list(spans)
    kept: list[Span] = []
    for span in spans:
        begin, end = span.begin, span.end
        if span.type in NAMES:
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
    names = span.type in NAMES and last.type in NAMES
    return names and between in ("", "'", "’", "-") and (sign.isalnum() or sign in "'’-")


def _article_of(last: Span, span: Span, text: str) -> bool:
    beside = last.type == span.type and text[last.end : span.begin] == " "
    return beside and _ARTICLE.match(text, last.begin, last.end) is not None


def _parts(span: Span, text: str) -> Iterator[Span]:
    """Two of "ngozi uh adeyemi", of "tom's brother bjorn" and of "three nights starting the eleventh"."""
    begin = span.begin
    for match in _SEAM[span.type].finditer(text, span.begin, span.end) if span.type in _SEAM else ():
        if begin < match.start():
            yield Span(begin, match.start(), span.type, span.score, span.detector)
        begin = match.end()
    if begin < span.end:
        yield Span(begin, span.end, span.type, span.score, span.detector) if begin > span.begin else span


def _tidy(span: Span, text: str) -> Span | None:
    inside = text[span.begin : span.end]
    if is_ordinary(span, text) or _EMPTY.match(inside):
        return None
    front = _FRONT.match(inside)
    begin = span.begin + (front.end() if front else 0)
    if span.type == "PER" and (title := _TITLE.match(text, begin, span.end)):
        begin = title.end()
    if span.type in NAMES and (bridge := _NAME_FRONT.match(text, begin, span.end)):
        begin = bridge.end()
    if span.type in _BEFORE and (relation := _BEFORE[span.type].match(text, begin, span.end)):
        begin = relation.end()
    end = span.begin + len(_BACK.sub("", inside))
    if span.type in _BEHIND:
        end = span.begin + len(_BEHIND[span.type].sub("", text[span.begin : end]))
    if span.type == "PER":
        owner = _OWNED.match(text, begin, end)
        end = owner.end(1) if owner else end - 2 * bool(_POSSESSIVE.search(text[begin:end]))
    if end <= begin:
        return span
    return span if (begin, end) == (span.begin, span.end) else Span(begin, end, span.type, span.score, span.detector)
