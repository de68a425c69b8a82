"""Names of people that are words as well ("april", "will", "grace"): what stands beside them tells.

"call april", "my sister june", "is april free", "april will call", "my name is april": a month is nobody's sister, and says
nothing. So with "will said", "tell will to come", "did will get home", "ask grace", "my brother drew".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from sottovoce.models.text.detect.builder.lists import words as listed_words
from sottovoce.models.text.words import Words

_NAMES_OF_MONTHS = frozenset(("april", "june", "august"))
_TOLD = r"call|ring|phone|text|tell|ask|remind|email|message|invite|thank"
_KIN = r"sister|brother|mother|father|wife|husband|daughter|son|friend|colleague|aunt|uncle|cousin|niece|nephew|boss|neighbou?r"
_BEFORE_SOMEBODY = re.compile(rf"{_TOLD}|{_KIN}|named|called|dear|hi|hello|hey|mr|mrs|ms|miss").fullmatch
_AFTER_SOMEBODY = re.compile(
    r"said|says|told|tells|called|calls|asked|asks|wants|wanted|wrote|writes|texted|emailed|replied|lives|works|thinks|knows|likes"
    r"|loves|needs"
).fullmatch
_AFTER_WILL_SOMEBODY = re.compile(
    r"answer|arrive|attend|book|bring|call|come|cook|drive|email|handle|help|join|know|lead|meet|pay|phone|pick|reply|send|speak|stay"
    r"|take|talk|tell|text|visit|wait|write"
).fullmatch
_AFTER_IS_SOMEBODY = re.compile(r"free|here|home|busy|available|coming|calling|joining|awake|alone").fullmatch
WILL = re.compile(
    r"(?<!\bthe )(?<!\b(?:my|no|of) )(?<!\bhis )(?<!\bher )\b(will)\s+(?:said|says|told|called|asked|wants|wrote|lives|works)\b"
    rf"|\b(?:{_TOLD})\s+(will)(?=$|[^\w\s]|\s+(?:to|that|about|if|i|i'm|and|on|at)\b)"
    r"|(?:^|[,.?!]\s|\b(?:and|when|if|why|where|how|hey)\s)(?:did|does|has|is|was)\s+(will)(?=\s+\w)",
    re.IGNORECASE,
)
# Other names that are words, only after what is followed by somebody and is no noun as well ("the phone bill", "ring finger").
_ONLY_TOLD = re.compile(r"tell|ask|remind|invite|thank|named").fullmatch
_RELATED = re.compile(_KIN).fullmatch
_SAYS = re.compile(r"said|says|told|asked|wants|texted|emailed|replied").fullmatch
_OF_A_VERB = "a an the up to out my his her it that early down on in off from for about money"  # "my son drew a horse"
# Words first, and names at best: what precedes them does not tell.
_NEVER_ALONE = """best better black brown bright case cash chance chase christian church cook day dick dollar dean doc duke easter
fields fish forest good gray green guy hill junior king little long love mac major norm page price prince rain rocky sharp small
star stone strong summer sunny sky white winter wise wood woods young april june august will"""


@cache
def names_and_words() -> frozenset[str]:
    """Names of people and places that are words as well ("rose", "reading")."""
    return frozenset(listed_words("word_name") + listed_words("word_place"))


@cache
def _told() -> frozenset[str]:
    return frozenset(listed_words("word_name")) - frozenset(_NEVER_ALONE.split())


def is_somebody(words: Words, begin: int, end: int) -> bool:
    """Whether the month at these characters is a person's name."""
    at = bisect_right(words.begins, begin) - 1
    if words.lowered[at] not in _NAMES_OF_MONTHS or words.ends[at] != end:
        return False
    first, before, after, last = (
        words.lowered[place] if 0 <= place < len(words.lowered) else "" for place in (at - 2, at - 1, at + 1, at + 2)
    )
    asked = before == "is" and (_AFTER_IS_SOMEBODY(after) or first == "name")
    does = (after == "will" and _AFTER_WILL_SOMEBODY(last)) or (before == "will" and _AFTER_WILL_SOMEBODY(after))
    return bool(asked or does or _BEFORE_SOMEBODY(before) or _AFTER_SOMEBODY(after))


def find_word_names(text: str, words: Words) -> Iterator[tuple[int, int, str]]:
    """(begin, end, PER) of names that are words, only where nothing else can be meant."""
    if "will" in words.lowered:
        for match in WILL.finditer(text):
            yield *match.span(match.lastindex or 0), "PER"
    if _told().isdisjoint(words.lowered):
        return
    for at, word in enumerate(words.lowered):
        if word in _told():
            before = words.lowered[at - 1] if at else ""
            after = words.lowered[at + 1] if at + 1 < len(words.lowered) else ""
            related = _RELATED(before) and after not in _OF_A_VERB.split()
            if _ONLY_TOLD(before) or related or (not at and _SAYS(after)):
                yield words.begins[at], words.ends[at], "PER"
