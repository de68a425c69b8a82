"""What can be told from how it is written: addresses, numbers in figures, dates, times, amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from sottovoce.models.text.detect.checks import iban_holds, is_identifier, number_type
from sottovoce.models.text.languages import language

TLD = (
    "com|net|org|edu|gov|mil|int|info|biz|io|co|ai|app|dev|me|tv|eu|uk|us|ca|au|nz|ie|in|de|fr|es|it|nl|be|ch|at|pl|pt|"
    "se|no|fi|dk|cz|gr|hu|ro|lv|jp|cn|kr|ru|br|mx|ar|za|sg|hk"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)(?:day)?"
_CURRENCY = r"(?:dollars?|pounds?|euros?|cents?|pence|bucks|quid|yen|rupees?|usd|gbp|eur|chf|inr|jpy)"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# Each pattern starts where no earlier start could have begun: long runs of one character stay linear.
EMAIL = _compile(r"(?<![\w.+%'-])[\w.+%'-]+(?:\s?@\s?[\w-]+(?:\.[\w-]+)+|(?:@\s?|\s@\s)[\w-]+)")
HANDLE = _compile(r"(?<![\w.+%'-])@\w{2,}")
URL = _compile(
    rf"\b(?:https?://|www\.)[^\s<>\"]+|\bhttps?\s?:\s?/\s?/\s?[\w-]+(?:\s?[./]\s?[\w-]+){{0,9}}|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:{TLD})\b(?:[/:?#][^\s<>\"]*)?"
)
IBAN = _compile(r"(?<!\w)[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?(?!\w)")
CODES = (
    _compile(r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)"),  # UUID
    _compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<!\w)(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?!\w)"),  # IPv4, MAC
    _compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])"),  # IPv6 in full
    _compile(r"(?<!\w)[a-z]{1,2}\d[a-z\d]?\s\d[a-z]{2}(?!\w)"),  # British postcode
    _compile(
        r"(?<!\w)[a-z]{2}\s?\d\d\s?\d\d\s?\d\d\s?[a-d](?!\w)|(?<![\w-])\d{3}-\d\d-\d{4}(?![\w-])"
    ),  # two of national_ids.py
    _compile(r"(?<!\w)\d+(?:\.\d+)?\s?e\s?\+?\s?\d{2}(?!\w)"),  # a long number that a spreadsheet shortened
    _compile(
        r"(?<![\w-])(?=[a-z-]*\d)(?=[\d-]*[a-z])(?!\d+(?:st|nd|rd|th|am|pm|[kmgx])\b)[a-z\d]+(?:-[a-z\d]+)*(?!\w)"
    ),
)
NUMBER = _compile(r"(?<!\w)((?:[+(]{1,2}\s?)?\d(?:[\s().\-/–]{0,3}\d)+)(?:\s?(?:x|ext\.?|extension)\s?\d{1,6})?(?!\w)")
DATES = (
    _compile(
        r"(?<![\w.])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{1,2}/\d{1,2})(?!\w)"
    ),
    _compile(
        rf"(?:\b{_DAY}\s?,\s?)?(?<!\w)\d{{1,2}}(?:\s?(?:st|nd|rd|th))?[\s-]+(?:of\s+)?{_MONTH}\b\.?(?:,?[\s-]+(?:\d{{4}}|'\d\d)(?!\w))?"
    ),
    _compile(rf"\b{_MONTH}\.?\s+(?:the\s+)?\d{{1,2}}(?:\s?(?:st|nd|rd|th))?(?!\w)(?:,?\s+\d{{4}}(?!\w))?"),
)
TIMES = (
    _compile(r"(?<![\w:])(?:[01]?\d|2[0-4])[:.h][0-5]\d(?::[0-5]\d)?(?:\s?[ap]\.?\s?m\b\.?)?(?![\w:])"),
    _compile(r"(?<!\w)(?:[01]?\d|2[0-4])(?:\s[0-5]\d)?\s?(?:[ap]\.?\s?m\b\.?|o['’]?\s?clock\b|h(?:rs?)?\b)"),
)
AMOUNTS = (
    _compile(
        r"(?:[$£€¥₹]|\b(?:usd|gbp|eur|chf|rs\.?)\s?)\s?\d(?:[\d,.]*\d)?(?:\s?(?:k|m|bn|thousand|million|billion)\b)?"
    ),
    _compile(rf"(?<![\w,.])\d[\d,.]*\s?(?:k|m|thousand|million|billion)?\s?(?:[$£€¥₹]|{_CURRENCY}\b)"),
)

_MIN_FIGURES = 5
_FOUR_FIGURES = re.compile(r"(?<![\w.,:/-])(?!(?:19|20)\d\d)\d{4}(?![\w:/-]|[.,]\d)")  # a year is a date instead


@cache
def calendar_patterns(code: str) -> tuple[tuple[tuple[re.Pattern[str], ...], str], ...]:
    """Dates, times and amounts as they are written in a language."""
    if code == "en":
        return (DATES, "DATE"), (TIMES, "TIME"), (AMOUNTS, "AMOUNT")
    known = language(code)
    month = "|".join(sorted(known.words("m"), key=len, reverse=True))
    day = rf"(?<![\w.])\d{{1,2}}(?:\.|{known.ordinal or 'e'})?[\s-]+(?:{known.link or 'de'}\s+)?(?:{month})\b"
    dates = (DATES[0], _compile(rf"{day}(?:,?[\s-]+(?:{known.link or 'de'}l?\s+)?\d{{4}}(?!\w))?"))
    times = (
        TIMES[0],
        _compile(rf"(?<![\w:])(?:[01]?\d|2[0-4])(?:[:.][0-5]\d)?\s?(?:{known.clock})(?:\s?[0-5]\d)?(?!\w)"),
    )
    amounts = (AMOUNTS[0], _compile(rf"(?<![\w,.])\d[\d,.]*\s?(?:[$£€¥]|(?:{known.currencies})\b)"))
    return (dates, "DATE"), (times, "TIME"), (amounts, "AMOUNT")


def find_written(text: str, regions: tuple[str, ...], code: str = "en") -> Iterator[tuple[int, int, str]]:
    """(begin, end, type) of all that looks sensitive, which may overlap. `regions`: countries of telephone numbers."""
    if "@" in text:
        yield from _all(EMAIL, text, "EMAIL")
        yield from _all(HANDLE, text, "CODE")
    if "." in text or "://" in text:
        yield from _all(URL, text, "URL")
    if not any(map(str.isdigit, text)):
        return
    for patterns, type_ in calendar_patterns(code):
        for pattern in patterns:
            yield from _all(pattern, text, type_)
    identifiers = language(code).identifiers
    for match in IBAN.finditer(text):
        bare = re.sub(r"[\s-]", "", match.group())
        if bare.isascii() and (len(bare) >= 15 or iban_holds(bare)):
            yield match.start(), match.end(), "IBAN"
    for pattern in CODES:
        for match in pattern.finditer(text):
            if match.end() - match.start() >= _MIN_FIGURES:
                known = bool(identifiers) and is_identifier(match.group(), identifiers)
                yield match.start(), match.end(), "ID" if known else "CODE"
    yield from _all(_FOUR_FIGURES, text, "CODE")
    yield from _numbers(text, regions, identifiers)


def _all(pattern: re.Pattern[str], text: str, type_: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        yield match.start(), match.end(), type_


def _numbers(text: str, regions: tuple[str, ...], identifiers: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """Figures in groups: five or more are a number that means someone or something."""
    for match in NUMBER.finditer(text):
        figures = "".join(str(int(c)) for c in match[1] if c.isdecimal())  # without the extension
        if len(figures) >= _MIN_FIGURES:
            plus = "+" if "+" in match.group() else ""
            yield match.start(), match.end(), number_type(plus + figures, regions, "", identifiers)
