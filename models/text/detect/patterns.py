"""What can be told from how it is written: addresses (also as they are said), numbers in figures, dates, times, amounts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from sottovoce.models.text.detect.checks import iban_holds, is_identifier, number_type
from sottovoce.models.text.languages import language
from sottovoce.models.text.words import Words

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
EMAIL = _compile(
    r"(?<![\w.+%'-])(?!(?:at|on|is|to|by|me|from|via|follow)\s+@)[\w.+%'-]+"
    rf"(?:(?:@\s?|\s@\s)[\w-]+(?:\.[\w-]+)+|\s@[\w-]+(?:\.[\w-]+)*\.(?:{TLD})\b|@\s?[\w-]+)"  # "tag @mika.runs" is a handle
)
HANDLE = _compile(
    r"(?<![\w.+%'-])@\s?\w{2,}(?:\.\w+)*"
)  # what stands before a lone @ is no part of it: "thanks @ anna_b"
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
AN_HOUR = _compile(
    r"\b(?:(?:half|quarter|three[\s-]quarters)\s+(?:of\s+)?an\s+hour|an\s+hour(?:\s+and\s+(?:an?\s+(?:half|quarter)|\w+\s+minutes))?)\b"
)
AMOUNTS = (
    _compile(
        r"(?:[$£€¥₹]|\b(?:usd|gbp|eur|chf|rs\.?)\s?)\s?\d(?:[\d,.]*\d)?(?:\s?(?:k|m|bn|thousand|million|billion)\b)?"
    ),
    _compile(rf"(?<![\w,.])\d[\d,.]*\s?(?:k|m|thousand|million|billion)?\s?(?:[$£€¥₹]|{_CURRENCY}\b)"),
)

_FEAST_IN = _compile(r"\b(?:day|eve|happy|easter|friday|holidays?|tm\w+|tomoz|2\w+)\b")
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
    if code == "en" and _FEAST_IN.search(text):
        yield from _all(FEASTS, text, "DATE")
    if code == "en" and "hour" in text.lower():
        yield from _all(AN_HOUR, text, "TIME")
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


# Days that are said in words of their own, and what typists make of them.
FEASTS = re.compile(
    r"\b(?:(?:mother|father|valentine|new\s+year|st\.?\s+patrick|all\s+saint)s?['’]?s?\s+(?:day|eve)|(?:boxing|christmas|thanksgiving|labou?r"
    r"|memorial|independence|canada|australia|anzac)\s+(?:day|eve)|christmas\s+eve|good\s+friday|easter\s+(?:sunday|monday)|bank\s+holidays?"
    r"(?:\s+monday)?|(?<=\bhappy\s)(?:christmas|easter|thanksgiving|halloween|diwali|hanukkah|eid)|(?:tmrw|tmrrw|tmw|2moro|2morrow|tomoz|2nite|2day))\b",
    re.IGNORECASE,
)
ON_A_SITE = re.compile(
    r"\bon\s+(?:instagram|insta|twitter|tiktok|snapchat|facebook|discord|twitch|youtube)\s+(?:i['’]?m|as|it['’]?s|under)\s+"
    r"(@?[\w.-]+(?:\s[\w-]+){0,3}?)(?=\s*(?:$|[,;!?]|and\b))",
    re.IGNORECASE,
)


# Addresses read out loud: "john dot smith at example dot com", "anna punkt weiß ät example punkt de".
_MAILER = r"(?:gmail|hotmail|yahoo|outlook|icloud|protonmail|rediffmail|rediff|aol|msn)"
SPOKEN_HANDLE = re.compile(
    r"(?<!\w)\w+(?:\s(?:dot|dash|hyphen)\s\w+)?(?:\s(?:underscore|under\sscore)\s\w+){1,4}", re.IGNORECASE
)
_NAMES_A_HANDLE = frozenset(("handle", "name", "username", "screenname", "tag", "gamertag", "nickname"))
# A handle that is named as one: "my user name is cold brew". What it is said to be like is none: "is not right".
NAMED_HANDLE = re.compile(
    r"\b(?:handle|user\s?name|screen\s?name|gamer\s?tag|nick\s?name|login\sname)(?:\s(?:on|for)\s\w+)?\s(?:is|was)\s"
    r"((?!(?:not|no|now|wrong|right|correct|incorrect|taken|the|a|an|on|in|my|your|what|already|still|too|very|so|it)\b)"
    r"\w[\w.-]*(?:\s\w[\w-]*){0,2})(?=\s*(?:$|[,.;!?]|and\b))",
    re.IGNORECASE,
)
_SITES = frozenset(("instagram", "insta", "twitter", "tiktok", "snapchat", "facebook", "discord", "twitch", "youtube"))
_MAX_LOCAL_WORDS = 12
_CALLED = frozenset(("alexa", "siri", "google", "cortana", "olly"))  # an assistant by its name begins no address


@dataclass(frozen=True)
class Addresses:
    """The patterns of a language. A text without any of the words in `dots` and `ats` holds no address that was spoken."""

    email: re.Pattern[str]
    url: re.Pattern[str]
    dots: frozenset[str]
    ats: frozenset[str]
    not_local: frozenset[str]


@cache
def addresses_of(code: str) -> Addresses:
    """Patterns of e-mail addresses and web sites as they are said in a language: "anna at example dot com"."""
    own = language(code)
    dots, tld = rf"(?:{own.dot})", rf"(?:{TLD}|c\s?o|u\s?k|c\so\sm)\b"
    label = rf"(?!(?:{own.at})\b|[ap]\s?\.\s?m\b)[\w'’-]+"  # "at one p. m. in leeds" is no address
    dot = rf"(?:\s{dots}\s|\s?\.\s?)"
    host = rf"(?:\w(?:\s\w){{2,15}}|{label}(?:\s{label}){{0,2}})(?:{dot}{label}){{0,5}}?{dot}{tld}(?:{dot}{tld})?"
    email = (
        rf"(?<![\w.+-])[\w.+-]+(?:\s(?:{own.joins})\s[\w.+-]+){{0,8}}\s(?:{own.at}|at\ssign|@)\s{host}"
        rf"|(?<![\w.+-])[\w.+-]+\s(?:{own.at}|@)\s{_MAILER}\b"
        # Transcripts without any punctuation: "smith 84 gmailcom".
        rf"|(?<![\w.+-])(?:(?!(?:and|is|id|my|e?mail|add?ress)\b)[\w.+-]+\s)?[\w.+-]*{_MAILER}\s?(?:{dots}\s)?com?\b"
    )
    # Bare "period" and "point" are words; English says "dot" in an address.
    said = "dot" if code == "en" else dots
    # What is a word as well ends a site only where nothing follows: "a las cinco en punto de la tarde" names none.
    words_too = rf"(?:{own.domains_and_words or '(?!)'})\b"
    last = rf"\s{said}\s(?:{words_too}(?!\s\w)|(?!{words_too}){tld})"
    url = (
        rf"(?<![\w-])(?:(?:www|w\sw\sw)\s(?:{said}\s)?)?[\w-]+(?:\s{said}\s[\w-]+){{0,5}}?{last}"
        rf"(?:\s(?:{said}|{own.slash})\s[\w-]+){{0,8}}"
    )
    words = {"dots": "dot" if code == "en" else own.dot, "ats": own.at}
    return Addresses(
        re.compile(email, re.IGNORECASE), re.compile(url, re.IGNORECASE),
        not_local=_CALLED.union(own.not_local.split()), **{name: frozenset(said.split("|")) for name, said in words.items()},
    )  # fmt: skip


def find_addresses(text: str, words: Words, code: str = "en") -> Iterator[tuple[int, int, str]]:
    """(begin, end, type) of e-mail addresses, web sites and handles that are read out loud."""
    if "underscore" in words.lowered or "score" in words.lowered:
        for match in SPOKEN_HANDLE.finditer(text):
            yield match.start(), match.end(), "CODE"
    if code == "en" and not _NAMES_A_HANDLE.isdisjoint(words.lowered):
        yield from ((*match.span(1), "CODE") for match in NAMED_HANDLE.finditer(text))
    if code == "en" and not _SITES.isdisjoint(words.lowered):
        yield from ((*match.span(1), "CODE") for match in ON_A_SITE.finditer(text))
    known = addresses_of(code)
    dotted = not known.dots.isdisjoint(words.lowered)
    if not dotted and "." not in text and known.ats.isdisjoint(words.lowered) and "mail" not in text.lower():
        return
    for match in known.email.finditer(text):
        yield _local_begin(text, match.start(), words, known.not_local), match.end(), "EMAIL"
    if dotted:
        for match in known.url.finditer(text):
            yield match.start(), match.end(), "URL"


def _local_begin(text: str, begin: int, words: Words, not_local: frozenset[str]) -> int:
    """People say "j smith eighty four at ...": take the words to the left as well, up to one that cannot belong."""
    at = bisect_right(words.begins, begin) - 1
    for _ in range(_MAX_LOCAL_WORDS):
        if at < 1 or words.lowered[at - 1] in not_local or not text[words.ends[at - 1] : words.begins[at]].isspace():
            break
        at -= 1
        begin = words.begins[at]
    return min(begin, words.begins[at]) if at >= 0 else begin
