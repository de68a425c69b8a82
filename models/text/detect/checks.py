"""What a run of figures is: check digits (Luhn, ISO 7812; mod 97, ISO 13616) and telephone numbering plans.

A failed check never clears a number, it only changes its type: a card number with one wrong figure is still personal.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import cast

CARD_FIGURES = range(13, 20)
PHONE_FIGURES = range(7, 16)
_WITH_ZERO = (
    "AU",
    "IE",
    "NZ",
    "ZA",
)  # said with their 0; without it, most rows of eight figures would be a number there


def luhn_holds(figures: str) -> bool:
    """Whether the last of these figures is the right check digit; the string must hold digits only."""
    doubled = [sum(divmod(2 * int(figure), 10)) for figure in figures[-2::-2]]
    return (sum(map(int, figures[-1::-2])) + sum(doubled)) % 10 == 0


def iban_holds(iban: str) -> bool:
    """`iban` without spaces. Letters count as 10..35; the first four characters move to the end."""
    rearranged = iban[4:] + iban[:4]
    return int("".join(str(int(character, 36)) for character in rearranged)) % 97 == 1


def is_phone(figures: str, regions: tuple[str, ...]) -> bool:
    """True where the figures form a valid number in one of the regions or, with a leading +, anywhere."""
    import phonenumbers  # 0.1 s to import, and most texts hold no long number

    for region in ("ZZ",) if figures.startswith("+") else regions:
        if region in _WITH_ZERO and not figures.startswith("0"):
            continue
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(figures, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False


def is_identifier(text: str, modules: tuple[str, ...]) -> bool:
    """True where the check digits of a national identifier hold; `modules` are python-stdnum's ("pl.pesel"), or a function of
    ours ("national_ids:medicare")."""
    return any(_check(module)(text) for module in modules)


@cache
def _check(module: str) -> Callable[[str], bool]:
    place, _, function = module.partition(":")
    if function:
        found = getattr(importlib.import_module(f"sottovoce.models.text.detect.{place}"), function)
    else:
        found = importlib.import_module(f"stdnum.{place}").is_valid
    return cast(Callable[[str], bool], found)


def number_type(figures: str, regions: tuple[str, ...], cue: str = "", identifiers: tuple[str, ...] = ()) -> str:
    """CARD, PHONE, ID or CODE. `cue` is the kind of word that came before: 'K' card, 'P' phone, 'C' account or the like, 'I' a
    national identifier."""
    bare = figures.lstrip("+")
    if cue != "P" and identifiers and is_identifier(figures, identifiers):
        return "ID"
    if len(bare) in CARD_FIGURES and (cue == "K" or luhn_holds(bare)):
        return "CARD"
    if len(bare) in PHONE_FIGURES and cue not in ("C", "I") and (cue == "P" or is_phone(figures, regions)):
        return "PHONE"
    return "CARD" if cue == "K" and len(bare) > 7 else "CODE"
