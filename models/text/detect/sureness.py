"""How sure the tagger must be of a name: one word of it that looks like one, the others may look less so.

The bias on the outside label is large, so that no word of a name is lost; a word that nothing but the bias makes a name ("does
that include tip") is seldom one. So a span of a type counts only where its surest word is above the outside label by what the
type asks for (`seeds` of the model's settings, chosen on dev data): hysteresis, as in Canny's edges (1986). After "tell", "ask"
and the like a person needs no such word. A title of a film looks like a name; where a text speaks of films and the place is one
of a title ("tickets for ...", "... is sold out"), more is asked for.

Where a name is expected ("a table at one fish", "play something by massive attack", "how do i get from deal to sandwich",
"invite joy and miles") every other label gains against the outside one, whatever the words are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from sottovoce.models.records import Span
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.lists import titles
from sottovoce.models.text.detect.known_lists import lists_with
from sottovoce.models.text.detect.ordinary import NAMES, OF_A_KITCHEN, PEOPLE
from sottovoce.models.text.detect.word_names import names_and_words

_TOLD = re.compile(
    r"\b(?:call|ring|phone|text|tell|ask|remind|e?mail|message|invite|thank|thanks|dear|hi|hello|hey|named|called|mr|mrs|ms|name\s+is"
    r"|brother|sister|son|daughter|wife|husband|friend|boss|colleague|cousin|aunt|uncle)\W+$",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\b(?:did|does|has|is|was|can|could|should|would|with)\s+$", re.IGNORECASE)
_EATEN_AT = re.compile(
    r"\b(?:eat|table|dinner|lunch|breakfast|brunch|reservation|reserve|book|booking|spot)\b[^.?!]{0,24}\bat\s+$",
    re.IGNORECASE,
)
_FILM = re.compile(
    r"\b(?:movies?|films?|cinema|theat(?:er|re)|imax|3d|showing|showings|showtimes?|screening|screenings|tickets?|seats?|sold\s+out"
    r"|matinee|trailer|sequel|rotten\s+tomatoes|imdb|starring|directed|playing\s+(?:at|near|in|anywhere|tonight))\b",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r"\b(?:concert|concerts|gig|tour|band|live|singer|artist|song|songs|album|playlist|music)\b", re.IGNORECASE
)
_BEFORE_TITLE = re.compile(
    r"\b(?:(?:tickets?|seats?|showings?|screenings?|showtimes?|trailer)\s+(?:for|to|of)|see|seen|seeing|saw|watch|watched|watching"
    r"|(?:movie|film)(?:\s+(?:called|named))?|how\s+about|what\s+about|rather|than)\s+$",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    r"\b(?:at|in|near|around|by|with|from|starring)\s+(?:the\s+)?$", re.IGNORECASE
)  # a place or a person
_HOUR = r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter|noon|midnight)"
_AFTER_TITLE = re.compile(
    r"\s+(?:(?:is|are|was)\s+)?(?:still\s+)?(?:playing|showing|showings?|sold\s+out|any\s+good|starts?|begins?|ha[sd]\s+seats"
    rf"|at\s+{_HOUR}|in\s+(?:imax|3d))\b",
    re.IGNORECASE,
)
# "the courier", "the harbour": after an article a common noun is likelier than a name.
_AFTER_ARTICLE = {"PER": 4.0, "ORG": 3.0, "LOC": 1.5}
_WITH_ARTICLE = ("us", "usa", "uk", "uae", "netherlands", "philippines", "bahamas", "bronx", "hague")
_LIST_OF = {
    "PER": frozenset((0, 3)),
    "LOC": frozenset((6,)),
    "ORG": frozenset((9,)),
}  # KINDS of known_lists.py: whole entries
_OWNING = re.compile(
    r"\s+(?:flights?|accounts?|card|app|store|bag|order|bill|website|branch|voucher|gift)\b", re.IGNORECASE
)
_ONE_OF_MANY = re.compile(r"\ban?\s+$", re.IGNORECASE)  # "an xbox", but also "a starbucks nearby"
_OF_MANY = 4.0
_HAILED = ("uber", "lyft", "cab")  # a service whose one car is asked for
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.IGNORECASE)
_SURE = 7.0
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LONG_TITLE, _LONGEST_TITLE = 3, 7
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
_NAMED = rf"(?!{_NO_NAME})([^\W\d_][\w'’-]*)"
_EXPECTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:table|reservation|booking)\b[^.?!,]{{0,24}}?\bat\s+{_STRETCH}",
        rf"\b(?:book|reserve)\s+(?!(?:table|tickets?|seats?|rooms?|flights?|taxi|cab|dinner|lunch|something|spot)\b){_STRETCH}"
        rf"(?=\s+for\s+(?:{_NUMBER})\b)",
        rf"\b(?:ring|call|phone|text)\s+{_NAMED}(?=\s+back\b)",
        rf"\b(?:play|put\s+on|hear|listen\s+to)\b[^.?!,]{{0,40}}?\bby\s+{_STRETCH}",
        rf"\b{_GO}\s+from\s+{_NAMED}(?=\s+to\b)",
        rf"\b{_GO}\s+from\s+[\w'’]+(?:\s+[\w'’]+)?\s+to\s+{_NAMED}{_STOP}",
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


def sure_enough(
    spans: Sequence[Span],
    text: str,
    words: Sequence[tuple[int, int]],
    scores: np.ndarray,
    outside: int,
    bias: float,
    seeds: Mapping[str, float],
) -> list[Span]:
    """The spans whose surest word is above the outside label, after the bias, by what their type asks for. Spans with a blank
    between them stand for each other: of "the maritime museum" a tagger may make two."""
    if not any(span.type in seeds for span in spans):
        return list(spans)
    known = _known_titles(spans, text)
    above = np.delete(scores, outside, axis=1).max(axis=1) - scores[:, outside] + bias
    begins, ends = [begin for begin, _ in words], [end for _, end in words]

    def surest(first: Span, last: Span) -> float:
        return float(above[bisect_right(ends, first.begin) : bisect_left(begins, last.end)].max(initial=0.0))

    kept: list[Span] = []
    for group in _beside(spans, text):
        together = surest(group[0], group[-1])
        for span in group:
            least = _asked(span, text, seeds[span.type], known) if span.type in seeds else 0.0
            if (surest(span, span) if least == _SURE else together) >= least:
                kept.append(span)
    return kept


def _beside(spans: Sequence[Span], text: str) -> list[list[Span]]:
    groups: list[list[Span]] = []
    for span in spans:
        last = groups[-1][-1] if groups else None
        alike = last is not None and (span.type == last.type or (span.type in NAMES and last.type in NAMES))
        if last is not None and alike and text[last.end : span.begin].isspace():
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _asked(span: Span, text: str, seed: float, known: Sequence[tuple[int, int]]) -> float:
    """What the surest word of a span must reach."""
    before = text[max(0, span.begin - 40) : span.begin]
    if span.type not in NAMES:
        return seed
    if _is_title(span, text, before) or any(begin <= span.begin and span.end <= end for begin, end in known):
        return _SURE
    if span.type != "ORG" and PEOPLE.match(text, span.begin, span.end) and OF_A_KITCHEN.match(text, span.end):
        return _SURE
    inside = text[span.begin : span.end].lower()
    told = span.type == "PER" and (_TOLD.search(before) or (_ASKED.search(before) and inside in names_and_words()))
    eaten_at = span.type == "ORG" and _EATEN_AT.search(before)
    twice = inside in names_and_words() and text.lower().count(inside) > 1  # "reading in reading": see `said_twice`
    article = _with_article(inside, before)
    if (
        span.type == "ORG"
        and inside not in _HAILED
        and " " not in inside
        and _ONE_OF_MANY.search(before)
        and not _OWNING.match(text, span.end)
    ):
        return _OF_MANY
    if _is_listed(span.type, inside):
        return 0.0
    if told or eaten_at or (twice and not article) or _capital(span, text):
        return 0.0
    if span.type == "LOC" and inside.removeprefix("the ") in _WITH_ARTICLE:
        return seed
    return max(seed, _AFTER_ARTICLE[span.type]) if article and not _OWNING.match(text, span.end) else seed


def _is_listed(type_: str, inside: str) -> bool:
    """Whether a public list has the name, or a word of a person's that is no other word: there a network in doubt is believed."""
    words = [word for word in _WORD.findall(inside) if len(word) > 2 and word not in names_and_words()]
    return any(
        not _LIST_OF[type_].isdisjoint(lists_with(word, ENGLISH)) for word in words if type_ == "PER" or len(words) == 1
    )


def _with_article(inside: str, before: str) -> bool:
    return inside.startswith("the ") or _ARTICLE.search(before) is not None


def _capital(span: Span, text: str) -> bool:
    """A capital that neither begins a sentence nor is one of many: in a text with both it tells of a name."""
    return (
        text[span.begin].isupper()
        and not text[span.begin : span.end].isupper()
        and text[max(0, span.begin - 2) : span.begin].strip(" \"'([") not in ("", ".", "?", "!", ":", ",")
        and text[: span.begin].rstrip()[-1:] not in ".?!:"
        and any(map(str.islower, text))
    )


def _known_titles(spans: Sequence[Span], text: str) -> list[tuple[int, int]]:
    """Where titles stand that are known: of three words and more, or of two where a title is expected."""
    if not any(span.type in NAMES for span in spans):
        return []
    words = [(match.start(), match.end(), match.group().lower()) for match in _WORD.finditer(text)]
    found = []
    for at in range(len(words)):
        for many in range(min(_LONGEST_TITLE, len(words) - at), 1, -1):
            if " ".join(word for *_, word in words[at : at + many]) in _titles():
                title = Span(words[at][0], words[at + many - 1][1], "ORG")
                if many >= _LONG_TITLE or _is_title(title, text, text[max(0, title.begin - 40) : title.begin]):
                    found.append((title.begin, title.end))
                break
    return found


def load_lists() -> None:
    """Reads the public lists, which a worker keeps."""
    names_and_words()
    _titles()


@cache
def _titles() -> frozenset[str]:
    return frozenset(title for title in titles() if " " in title)


def _is_title(span: Span, text: str, before: str) -> bool:
    """Whether a title is expected there."""
    if not _FILM.search(text) or _STAGE.search(text) or _NO_TITLE.search(before):
        return False
    return bool(_BEFORE_TITLE.search(before) or _AFTER_TITLE.match(text, span.end))
