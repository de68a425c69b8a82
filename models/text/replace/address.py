"""Surrogates of places that are addresses: another house in another street of another town, in the shape that was said.

Kept are the form (which of house number, street, town and postcode stand there, and in what order), words such as "flat", and
what
kind of street it is. All else is drawn.
"""

from __future__ import annotations

import re

from sottovoce.models.text.replace.distribution import Draws, ListDistribution
from sottovoce.models.text.replace.shape import scramble
from sottovoce.models.text.replace.surface import render, style_of

_STREET = r"(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|ct|boulevard|blvd|way|place|pl|terrace|crescent|square|close)"
_POSTCODE = r"(?:[a-z]{1,2}\d[a-z\d]?\s?\d[a-z]{2}|\d{5}(?:-\d{4})?)"
# "flat 3b, 17 acacia avenue, leeds ls6 2qx"
_PART = re.compile(
    rf"(?P<code>(?<!\w){_POSTCODE}(?!\w))"
    r"|(?P<kept>\b(?:flat|apartment|apt|unit|suite|floor|number|no|the|corner|of|and|north|south|east|west)\b\.?)"
    r"|(?P<number>(?<!\w)\d+[a-z]?(?!\w))"
    rf"|(?P<street>[^\W\d_](?:[^\W\d_]|['’-])*(?!\w)(?:\s+(?!{_STREET}\b)[^\W\d_](?:[^\W\d_]|['’-])*(?!\w)){{0,2}}\s+(?P<kind>{_STREET})\b\.?)"
    r"|(?P<town>[^\W\d_](?:[^\W\d_]|['’-])*(?!\w)(?:\s+[^\W\d_](?:[^\W\d_]|['’-])*(?!\w))*)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(rf"\d[\w\s,.'’-]*\b{_STREET}\b|\b{_STREET}$|^{_POSTCODE}$", re.IGNORECASE)
FORM = "address"


def is_address(value: str) -> bool:
    """Whether a place is a street address or a postcode rather than a name; letter case does not matter."""
    return bool(_ADDRESS.search(value))


def address_like(old: str, surnames: ListDistribution, towns: ListDistribution, draws: Draws) -> str:
    """Another address in the shape of the old: streets are named by surnames, figures and postcodes drawn sign by sign."""

    def drawn(match: re.Match[str]) -> str:
        part = match.group()
        if match["kept"]:
            return part
        if match["street"]:
            return f"{render(surnames.draw(draws), style_of(part))} {match['kind']}"
        if match["town"]:
            return render(towns.draw(draws), style_of(part))
        return scramble(part, draws)

    return _PART.sub(drawn, old)
