"""Numbers as they are said, so that "7:45" and "seven forty five" are learnt alike."""

from __future__ import annotations

import re

# fmt: off
_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
# fmt: on
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})\W*$")
_DIGITS = re.compile(r"\d+\W*$")


def in_words(value: int) -> str:
    """0 to 999,999 in words, without hyphens or "and"."""
    if value < 20:
        return _UNITS[value]
    if value < 100:
        return _TENS[value // 10] + (f" {_UNITS[value % 10]}" if value % 10 else "")
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if value >= size:
            rest = value % size
            return f"{in_words(value // size)} {name}" + (f" {in_words(rest)}" if rest else "")
    raise AssertionError("unreachable")


def spoken(token: str) -> list[str]:
    """A token of digits as words; any other token as it is. Long numbers are read digit by digit, years in pairs."""
    clock = _CLOCK.match(token)
    if clock:
        minute = in_words(int(clock[2])).split()
        tail = [] if clock[2] == "00" else ["oh", *minute] if clock[2][0] == "0" else minute
        return [*in_words(int(clock[1])).split(), *tail]
    if not _DIGITS.match(token):
        return [token]
    digits = re.sub(r"\D", "", token)
    if len(digits) > 4 or (digits[0] == "0" and len(digits) > 1):
        return [_UNITS[int(d)] for d in digits]
    if len(digits) == 4 and 1100 <= int(digits) < 2100 and digits[2:] != "00":
        return f"{in_words(int(digits[:2]))} {in_words(int(digits[2:]))}".split()
    return in_words(int(digits)).split()
