"""What can be told from how it is said: numbers, letters, dates, times and amounts in words.

Speech transcripts have no figures and no punctuation: "oh seven seven double four", "half past seven p m", "s m i t h".
The patterns are regular expressions over word classes (`words.py`); repeats are bounded, so that time stays linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from sottovoce.models.text.detect.checks import is_identifier, number_type
from sottovoce.models.text.detect.word_names import is_somebody
from sottovoce.models.text.languages import language
from sottovoce.models.text.words import Words, digits_of

_HOUR = r"[de1]"
_MINUTE = r"(?:z[dz]|yd?|[et123])"
_AMPM = r"(?:[XY]|ETZ|gZ)"
_ORDINAL = r"(?:y?r|q)"
_YEAR = r"(?:4|[ty](?:yd?|[et]|z[dz])|dk(?:&?(?:yd?|[det]))?|th(?:&?(?:yd?|[det]))?)"

DATE = re.compile(
    rf"w?T?(?:{_ORDINAL}|[12])f?V?[mj]{_YEAR}?"  # the twenty third of march nineteen eighty
    rf"|w?mT?(?:{_ORDINAL}|yd?|[det12]){_YEAR}?"  # june the fifth
    rf"|w?jT?(?:{_ORDINAL}|yd?|t|[12]){_YEAR}?"
    rf"|T?[rqV]d?[wW][fE]T?(?:[mj]|VW|W)"  # the second sunday of june, the first two weeks of september
    rf"|[mj]{_YEAR}|T?W[pb]R|V[mjWZ]|m|V?wZ?|RZ?|(?<=G)T?{_ORDINAL}|Tq|(?<=E){_YEAR}|4"
)
# How long, how long ago, how old: "seven nights", "three weeks ago", "a fortnight", "forty two years old", "aged nine".
_COUNT = r"(?:d?h&?)?(?:yd?|[det1-35])"
DURATION = re.compile(
    rf"(?:V(?={_COUNT}[WZMU]))?{_COUNT}(?:&a?F)?(?:[WZMU]A?|EA)|a[WU]A|(?<=B)[f=]?{_COUNT}"
    rf"|(?:(?<=S)|(?<=[S7]=)){_COUNT}(?:&a?F)?(?=$|&)"  # "she's eleven", "he is nine and a half"
)
TIME = re.compile(
    rf"(?:[QF]|yd?|[det123])M?p{_HOUR}{_AMPM}?|Qb{_HOUR}{_AMPM}?"  # quarter past six, ten past five p m
    rf"|(?<=g)(?:yd?|[det123])M?b{_HOUR}{_AMPM}?|(?:yd?|[det123])M?b{_HOUR}{_AMPM}"  # bare "ten to five" may be a range
    rf"|(?<=g)F{_HOUR}{_AMPM}?|F{_HOUR}{_AMPM}"
    rf"|(?:{_HOUR}(?:{_MINUTE}|h)?|[ty]{_MINUTE}?|[23]){_AMPM}"
    rf"|{_HOUR}z?O{_AMPM}?|N"
    rf"|(?<=[gb])(?:{_HOUR}{_MINUTE}|[ty]{_MINUTE})"
    rf"|(?<=[gp]){_HOUR}(?=$|[gbpGRwoV&])|(?<=b)1(?=$|[gbpGRwoV&])"
)
AMOUNT = re.compile(r"[ad]?6|(?:a(?=[hk])|[zdetyhk1-5])[zdetyhk&1-5]{0,12}\$(?:&?(?:yd?|[zdet123])\$?)?")
# A unit of dictation is a number word or "double four"; fillers may stand between two units.
FIGURES = re.compile(r"\+?(?:u[zd1]|[zdety1-5])(?:,*(?:u[zd1]|[zdety1-5]))*")
# The same with letters, which may be explained: "s as in sierra", "b for bravo".
LETTERS = re.compile(r"(?:(?:u?[lainzYdety1-5](?:(?<=[lai])(?:sE?|o).)?),*)+")
_SPELLED = re.compile("l{4,}")
CUE = re.compile(r"([CPKLI])[^CPKLI]{0,3}$")

# Spelled out, these are no secret: "what is ten pounds in u s d", "news of the b b c", "ninety nine f m".
_CURRENCIES = frozenset(["usd", "gbp", "eur", "cad", "aud", "nzd", "inr", "jpy", "cny", "chf"])
_STATION = re.compile(
    r"(?:bbc|cnn|nbc|cbs|npr|pbs|mtv|espn|ard|zdf|ntv|rtl|rds|rai|rtp|rtve|tve|rmf|tvn|tvp|ltv|lsm|nos|npo)?(?:fm)?"
    r"|nba|nfl|nhl|mlb|uefa|fifa|dfb|rnb|imdb|nhs|atm|sms|gps|usb|ssn|dob|tv|dvd|vip|faq|cv|diy|hr|it|pc"
)
_FEW_FIGURES = 5  # of a station's place on the dial; more are a number of somebody
_NUMBERS = frozenset("zdety12345")
_LASTING = frozenset("WZMUABS7")
_TEMPORAL = frozenset("mjwRVNOXYQFgGEpb4q")
_HEADS = frozenset(("people", "persons", "guests", "adults", "children", "kids", "tickets", "seats", "rooms", "diners"))
_HOURS = frozenset("NrFZU")
# In other languages: an hour of 24, and "du matin", "de la tarde", "in de ochtend", "po południu", "p. m.".
_ANY_HOUR, _PART_OF_DAY = r"(?:y&?d|y|[zdet123])", r"(?:(?:[fEgpl]?T?)[ZR]|X)"


@cache
def calendar_of(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Dates and times as they are said: what a language says in an order of its own comes first, and is longer."""
    own = language(code)
    if code == "en":
        return DATE, TIME
    shared_dates = "w?T?(?:H|y?r)f?T?m(?:4|f?k.{0,3})?"
    shared_times = "HU?O?(?:&?(?:[FQ]|y&?d|[det]))?D"
    dates, times = (
        "|".join(part for part in parts if part).replace("H", _ANY_HOUR).replace("D", _PART_OF_DAY)
        for parts in ((own.dates, shared_dates), (own.times, shared_times))
    )
    return re.compile(f"{dates}|{DATE.pattern}"), re.compile(f"{times}|{TIME.pattern}")


def find_spoken(words: Words, regions: tuple[str, ...], code: str = "en") -> Iterator[tuple[int, int, str]]:
    """(begin, end, type) in characters. Texts whose words are all of no class cost one set operation."""
    kinds = frozenset(words.classes)
    numbers = bool(kinds & _NUMBERS)
    if kinds & _TEMPORAL or (code != "en" and (numbers or kinds & _HOURS)):
        date, time = calendar_of(code)
        for begin, end, type_ in _all(date, words, "DATE"):
            yield begin, end, "PER" if code == "en" and is_somebody(words, begin, end) else type_
        if numbers or kinds & _HOURS:
            yield from (found for found in _all(time, words, "TIME") if not _counts_heads(words, found[1]))
    if kinds & _LASTING and (numbers or "A" in kinds):
        yield from _counted(DURATION, words, "DATE", code)
    if "$" in kinds or "6" in kinds:
        yield from _counted(AMOUNT, words, "AMOUNT", code)
    if numbers:
        yield from _figures(words, regions, code)
    if "l" in kinds or "n" in kinds or "Y" in kinds:
        yield from _letters(words, code)
        if code != "en":
            yield from _spelled(words)


def _all(pattern: re.Pattern[str], words: Words, type_: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(words.classes):
        yield words.begins[match.start()], words.ends[match.end() - 1], type_


def _counts_heads(words: Words, end: int) -> bool:
    """ "from 7 to 9 people" is no time."""
    after = bisect_right(words.begins, end)
    return after < len(words.lowered) and words.lowered[after] in _HEADS


def _counted(pattern: re.Pattern[str], words: Words, type_: str, code: str) -> Iterator[tuple[int, int, str]]:
    """Without what is one of its kind where "one" is the article, too: "un día" is a day, "un dólar" a dollar, as in English."""
    for begin, end, kind in _all(pattern, words, type_):
        first, last = bisect_right(words.begins, begin) - 1, bisect_right(words.begins, end - 1) - 1
        one = last == first + 1 and words.classes[last] in "W$" and language(code).values.get(words.lowered[first]) == 1
        if not one:
            yield begin, end, kind


def _cue(words: Words, at: int) -> str:
    """The last word before `at` that tells what follows: 'C' an account, 'I' a national identifier, 'P' a phone,
    'K' a card, 'L' letters."""
    found = CUE.search(words.classes[max(0, at - 5) : at])
    return found[1] if found else ""


def _figures(words: Words, regions: tuple[str, ...], code: str) -> Iterator[tuple[int, int, str]]:
    """Dictated numbers: five figures, or four words; three after a cue such as "account number" or with nothing else."""
    own = language(code)
    for match in FIGURES.finditer(words.classes):
        begin, end = match.span()
        if end - begin == 1 and len(words.lowered[begin]) < 3:
            continue
        figures = digits_of(words.lowered[begin:end], code)
        cue = _cue(words, begin)
        enough = len(figures) >= 5 or (end - begin >= 4 and len(figures) >= 4)
        if enough or (len(figures) >= 3 and (cue or end - begin == len(words.classes))):
            begin = _with_short_word(words, begin) if cue in ("C", "I") else begin
            plus = "+" if words.classes[begin] == "+" else ""
            identifiers = own.identifiers + (own.asked_for if cue == "I" else ())
            yield words.begins[begin], words.ends[end - 1], number_type(plus + figures, regions, cue, identifiers)


def _spelled(words: Words) -> Iterator[tuple[int, int, str]]:
    """Four letters or more in a row: alone a vowel is a word in many languages, among others it is a letter."""
    ones = "".join("l" if len(word) == 1 and word.isalpha() else " " for word in words.lowered)
    for match in _SPELLED.finditer(ones):
        begin, end = match.span()
        if not _STATION.fullmatch("".join(words.lowered[begin:end])):
            yield words.begins[begin], words.ends[end - 1], "CODE"


def _with_short_word(words: Words, begin: int) -> int:
    """In "policy number plc 748" the letters belong to the number."""
    before = begin - 1
    return before if before > 0 and words.classes[before] == "x" and len(words.lowered[before]) <= 4 else begin


def _letters(words: Words, code: str) -> Iterator[tuple[int, int, str]]:
    """Spelled names and mixed codes. "a" and "i" are words too, so two further letters must stand with them."""
    for match in LETTERS.finditer(words.classes):
        begin = match.start()
        run = match.group().rstrip(",")
        counted = run[1:] if run[0] in "ai" else run
        sure = sum(run.count(kind) for kind in "lnY")
        if sure == 0:
            continue
        letters = sum(counted.count(kind) for kind in "lainzY") + counted.count("Y")
        figures = sum(counted.count(kind) for kind in "zdety12345")
        if sure == run.count("n") == 1:  # one "hotel" is a hotel
            continue
        cued = _cue(words, begin) in ("C", "L", "I")
        if not cued and _known_to_all(run, words.lowered[begin : begin + len(run)]):
            continue
        spelled = (sure >= 2 and letters >= 3) or (figures >= 2 and len(counted) >= 4)
        if spelled or (len(counted) >= 2 and cued):
            written = _as_written(run, words.lowered[begin : begin + len(run)], code)
            known = figures and is_identifier(written, language(code).identifiers)
            yield words.begins[begin], words.ends[begin + len(run) - 1], "ID" if known else "CODE"


def _as_written(run: str, lowered: list[str], code: str) -> str:
    """ "a b one two double three" -> "AB1233"; a letter may be said by a name ("bravo"), "zed" and "zee" are one."""
    parts = re.finditer(r"([laniY])|([^laniY]+)", run)
    return "".join(
        lowered[part.start()][0].upper() if part[1] else digits_of(lowered[part.start() : part.end()], code)
        for part in parts
    )


def _known_to_all(run: str, lowered: Sequence[str]) -> bool:
    """A currency and how much of it before ("ten u s d", "a g b p"), a station and where it is ("b b c four"), a league.

    `run` has a letter at the least."""
    if "".join(lowered[-3:]) in _CURRENCIES and all(kind in "azdety12345," for kind in run[:-3]):
        return True
    letters = "".join(word for word in lowered if len(word) == 1 and word.isalpha())
    figures, commas = sum(kind in _NUMBERS for kind in run), run.count(",")
    if not letters or len(letters) + figures + commas != len(run):  # some are said as words: "zed", "nine"
        return False
    return _STATION.fullmatch(letters) is not None and "n" not in run and "Y" not in run and figures < _FEW_FIGURES
