"""E-mail and web addresses read out loud: "john dot smith at example dot com", "www dot example dot org slash help"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from sottovoce.models.detect.patterns import TLD
from sottovoce.models.words import Words

_DOT = r"(?:\s(?:dot|point|period)\s|\s?\.\s?)"
_CONNECT = r"(?:dot|point|period|underscore|dash|hyphen|minus|plus)"
_LABEL = r"(?!at\b)[\w-]+"
_TLD = rf"(?:{TLD}|c\s?o|u\s?k|c\so\sm)\b"
_MAILER = r"(?:gmail|hotmail|yahoo|outlook|icloud|protonmail|rediffmail|rediff|aol|msn)"
_HOST = rf"(?:\w(?:\s\w){{2,15}}|{_LABEL}(?:\s{_LABEL}){{0,2}})(?:{_DOT}{_LABEL}){{0,5}}?{_DOT}{_TLD}(?:{_DOT}{_TLD})?"
EMAIL = re.compile(
    rf"(?<![\w.+-])[\w.+-]+(?:\s{_CONNECT}\s[\w.+-]+){{0,8}}\s(?:at|at\ssign|@)\s{_HOST}"
    rf"|(?<![\w.+-])[\w.+-]+\sat\s{_MAILER}\b"
    # Transcripts without any punctuation: "smith 84 gmailcom".
    rf"|(?<![\w.+-])(?:(?!(?:and|is|id|my|e?mail|add?ress)\b)[\w.+-]+\s)?[\w.+-]*{_MAILER}\s?(?:dot\s)?com?\b",
    re.IGNORECASE,
)
URL = re.compile(
    rf"(?<![\w-])(?:(?:www|w\sw\sw)\s(?:dot\s)?)?[\w-]+(?:\sdot\s[\w-]+){{0,5}}?\sdot\s{_TLD}"
    r"(?:\s(?:dot|slash|forward\sslash)\s[\w-]+){0,8}",
    re.IGNORECASE,
)

# Words that do not belong to the name before "at": reading leftwards stops there.
_STOP = """email mail e id address adress is it's its it that's to me my at on the a an and or please send write contact reach
message forward copy cc use with from for of so yes no okay ok i am was be about can could you"""
_STOP_WORDS = frozenset(_STOP.split())
_MAX_LOCAL_WORDS = 12


def find_addresses(text: str, words: Words) -> Iterator[tuple[int, int, str]]:
    if "dot" not in words.lowered and "." not in text and "at" not in words.lowered and "mail" not in text.lower():
        return
    for match in EMAIL.finditer(text):
        yield _local_begin(text, match.start(), words), match.end(), "EMAIL"
    if "dot" in words.lowered:
        for match in URL.finditer(text):
            yield match.start(), match.end(), "URL"


def _local_begin(text: str, begin: int, words: Words) -> int:
    """People say "j smith eighty four at ...": take the words to the left as well, up to one that cannot belong."""
    at = bisect_right(words.begins, begin) - 1
    for _ in range(_MAX_LOCAL_WORDS):
        if at < 1 or words.lowered[at - 1] in _STOP_WORDS or not text[words.ends[at - 1] : words.begins[at]].isspace():
            break
        at -= 1
        begin = words.begins[at]
    return min(begin, words.begins[at]) if at >= 0 else begin
