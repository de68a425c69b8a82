"""The ways in which digits are said: as a number, digit by digit, in pairs, as money, as a time of day."""

from __future__ import annotations

import re

Form = tuple[tuple[str, ...], ...]

ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ONES += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"))
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
ORDINALS |= {"twelve": "twelfth"}
ZERO = ("zero", "oh", "o.")
MAX_CARDINAL_DIGITS = 12
MAX_READINGS = 32
COINS = {"$": ("dollars", "dollar", "cents"), "£": ("pounds", "pound", "pence"), "€": ("euros", "euro", "cents")}


def number_forms(written: str) -> list[Form]:
    """Forms of "807", "1,000" or "3.5". The last form is always digit by digit."""
    whole, _, fraction = written.replace(",", "").partition(".")
    if fraction:
        tail = (("point", "dot"), *_digits(fraction))
        return [*(form + tail for form in number_forms(whole))]
    forms: list[Form] = []
    if len(whole) <= MAX_CARDINAL_DIGITS and (len(whole) <= 2 or not whole.startswith("0")):
        forms += _cardinal_forms(int(whole))
    if 0 < int(whole) <= 31:
        forms += ordinal_forms(int(whole))  # "may 5" is read "may fifth"
    if len(whole) in (3, 4) and not whole.startswith("0"):
        forms += _pair_forms(whole)
    return [*forms, *_repeated(whole), _digits(whole)]


def ordinal_forms(value: int) -> list[Form]:
    """Forms of 5 as "fifth" and "the fifth"."""
    forms = []
    for form in _cardinal_forms(value):
        last = form[-1][0]
        ending = ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
        forms += [(*form[:-1], (ending,)), (("the",), *form[:-1], (ending,))]
    return forms


def money_forms(written: str) -> list[Form]:
    """Forms of "$3.50", the sign in front: "three dollars fifty", "three fifty", "three dollars and fifty cents"."""
    many, one, cents = COINS[written[0]]
    whole, _, fraction = written[1:].replace(",", "").partition(".")
    forms = []
    for form in _cardinal_forms(int(whole)):
        forms.append((*form, (many, one)))
        if fraction and int(fraction):
            for small in _cardinal_forms(int(fraction)):
                forms += [(*form, (many, one), *small), (*form, *small)]
                forms += [(*form, (many, one), *link, *small, (cents,)) for link in ((), (("and",),))]
    return forms


def time_forms(written: str) -> list[Form]:
    """Forms of "19:05": "nineteen oh five", "seven zero five"; of a full hour also with "o'clock" or "hundred"."""
    hour, minute = (int(part) for part in written.split(":"))
    hours = _cardinal_forms(hour)
    if hour > 12:
        hours += _cardinal_forms(hour - 12)
    if minute == 0:
        return [form for h in hours for form in (h, (*h, ("o'clock",)), (*h, ("hundred",)))]
    minutes = [(ZERO, (ONES[minute],))] if minute < 10 else _cardinal_forms(minute)
    return [h + m for h in hours for m in minutes]


def _cardinal_forms(value: int) -> list[Form]:
    plain = _cardinal(value, "")
    british = _cardinal(value, "and")
    return [tuple((word,) for word in words) for words in dict.fromkeys((tuple(plain), tuple(british)))]


def _cardinal(value: int, link: str) -> list[str]:
    if value < 20:
        return [ONES[value]]
    if value < 100:
        return [TENS[value // 10], *([ONES[value % 10]] if value % 10 else [])]
    if value < 1000:
        rest = [link, *_cardinal(value % 100, link)] if value % 100 else []
        return [ONES[value // 100], "hundred", *(word for word in rest if word)]
    for size, name in SCALES:
        if value >= size:
            rest = _cardinal(value % size, link) if value % size else []
            joint = [link] if link and 0 < value % size < 100 else []
            return [*_cardinal(value // size, link), name, *joint, *rest]
    raise AssertionError(value)


def _digits(written: str) -> Form:
    return tuple(ZERO if digit == "0" else (ONES[int(digit)],) for digit in written)


def _repeated(written: str) -> list[Form]:
    """Readings of "07744" with "double" or "triple" in them, in every mixture; none where no digit repeats."""
    readings: list[Form] = [()]
    for run in re.findall(r"(\d)(\1*)", written):
        digit, length = run[0], len(run[0] + run[1])
        one = _digits(digit)
        options = [one * length]
        if length == 2:
            options.append((("double",), *one))
        if length == 3:
            options += [(("triple",), *one), (("double",), *one, *one), (*one, ("double",), *one)]
        if length == 4:
            options.append((("double",), *one, ("double",), *one))
        readings = [reading + option for reading in readings for option in options][:MAX_READINGS]
    return readings[1:]


def _pair_forms(whole: str) -> list[Form]:
    """1999 -> nineteen ninety nine; 807 -> eight oh seven; 1900 -> nineteen hundred."""
    head, tail = whole[:-2], int(whole[-2:])
    begin = tuple((word,) for word in _cardinal(int(head), ""))
    if tail == 0:
        return [(*begin, ("hundred",))]
    if tail < 10:
        return [(*begin, ZERO, (ONES[tail],))]
    return [(*begin, *((word,) for word in _cardinal(tail, "")))]
