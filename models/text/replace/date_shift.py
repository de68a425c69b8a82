"""Dates of a dialogue that move together: a day of the year and a day of the week, by one number of days.

The number is uniform over 365 times 7, so the new day of the year alone is uniform, and so is the new weekday: of one date
nothing is learnt. Of two dates of a dialogue it is learnt how many days lie between them, which is why they still fit together.
A date with a year, or one that is relative ("tomorrow"), does not move and is drawn as before.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.words import words_of_class

DAYS_DRAWN = 365 * 7
_FIRST = date(2023, 1, 1)  # of a year of 365 days
_LONG = tuple(name.lower() for name in calendar.month_name[1:])
_SHORT = tuple(name[:3] for name in _LONG)
_WEEKDAYS = tuple(name.lower() for name in calendar.day_name)
_UNITS = words_of_class("r")
_ORDINALS = (*_UNITS[:20], *(f"twenty {one}" for one in _UNITS[:9]), "thirtieth", "thirty first")
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def _either(words: tuple[str, ...]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_DAY = rf"(?P<day>{_either(_ORDINALS)}|\d{{1,2}}(?: ?(?:st|nd|rd|th))?)"
_MONTH = rf"(?P<month>{_either((*_LONG, *_SHORT, 'sept'))})"
_WEEKDAY = rf"(?P<weekday>{_either(_WEEKDAYS)})"
_FORMS = (
    re.compile(rf"(?:{_WEEKDAY},? )?(?:the )?{_DAY}(?: of)? {_MONTH}"),
    re.compile(rf"(?:{_WEEKDAY},? )?{_MONTH}(?: the)? {_DAY}"),
    re.compile(rf"(?:(?:next|this|last|on) )?{_WEEKDAY}"),
)


def shift_of(draws: Draws) -> int:
    """Days by which a dialogue's dates move: uniform over 0 to 2554, one for each pair of a day of the year and a weekday."""
    return draws.below(DAYS_DRAWN)


def shifted(value: str, by: int) -> str | None:
    """`value` in canonical form, `by` days later and written in the same way; None where it is no date of this kind."""
    match = next((found for form in _FORMS if (found := form.fullmatch(value))), None)
    if match is None:
        return None
    parts = match.groupdict()
    new: dict[str, str] = {}
    if parts["weekday"]:
        new["weekday"] = _WEEKDAYS[(_WEEKDAYS.index(parts["weekday"]) + by) % 7]
    if parts.get("day"):
        day, month = _day(parts["day"]), _SHORT.index(parts["month"][:3]) + 1
        if not 1 <= day <= calendar.monthrange(_FIRST.year, month)[1]:
            return None
        moved = _FIRST + timedelta(days=((date(_FIRST.year, month, day) - _FIRST).days + by) % 365)
        new["day"] = _day_like(moved.day, parts["day"])
        new["month"] = (_LONG if parts["month"] in _LONG else _SHORT)[moved.month - 1]
    text = value
    for name in sorted(new, key=match.start, reverse=True):
        text = text[: match.start(name)] + new[name] + text[match.end(name) :]
    return text


def _day(said: str) -> int:
    return _ORDINALS.index(said) + 1 if said in _ORDINALS else int(re.sub(r"\D", "", said))


def _day_like(day: int, like: str) -> str:
    """In words, in figures, or in figures with their ending, as it was."""
    if like in _ORDINALS:
        return _ORDINALS[day - 1]
    if like.isdecimal():
        return f"{day:0{len(like)}d}" if like.startswith("0") else str(day)
    ending = "th" if 11 <= day <= 13 else _SUFFIXES.get(day % 10, "th")
    return f"{day}{' ' * like.count(' ')}{ending}"
