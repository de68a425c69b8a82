"""One set of type names for models and files with other people's labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_SAID = {
    "PER": "PERSON PEOPLE NAME FIRST_NAME LAST_NAME SURNAME",
    "LOC": "GPE LOCATION FAC FACILITY GEO GEO-LOC CITY COUNTRY STATE ADDRESS STREET STREET_ADDRESS ZIP_CODE PLACE",
    "ORG": "ORGANIZATION ORGANISATION CORPORATION COMPANY BUSINESS",
    "DATE": "DAT DATE_TIME DATETIME",
    "TIME": "TIM",
    "CODE": "CARDINAL",
    "AMOUNT": "MONEY PRICE",
    "EMAIL": "EMAIL_ADDRESS",
    "PHONE": "PHONE_NUMBER PHONENUMBER",
    "CARD": "CREDIT_CARD",
    "IBAN": "IBAN_CODE",
    "ID": "US_SSN SSN PASSPORT US_PASSPORT US_DRIVER_LICENSE UK_NHS",
    "URL": "DOMAIN_NAME",
}
KNOWN = {name: kind for kind, names in _SAID.items() for name in (kind, *names.split())}
_BEFORE = re.compile(r"([BIESLUM])[-_](.+)")
_AFTER = re.compile(r"(.+)[-_]([BIESLUM])")
_BEGINS = {"S": "B", "U": "B", "E": "I", "L": "I", "M": "I"}


def renamed(labels: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """'B-GPE' -> 'B-LOC', whatever the case of its letters. Labels without a prefix become I-; BIOES, BILOU and BMES are read
    as BIO
    (S begins, E continues), and so is a prefix that stands behind ("PER-B")."""
    return [_renamed(label, types) for label in labels]


def _renamed(label: str, types: Mapping[str, str]) -> str:
    if label in ("O", "0", "", "_"):
        return "O"
    if before := _BEFORE.fullmatch(label):
        prefix, kind = before.groups()
    elif after := _AFTER.fullmatch(label):
        kind, prefix = after.groups()
    else:
        prefix, kind = "I", label
    kind = types.get(kind) or KNOWN.get(kind.upper(), kind)
    return "O" if kind == "O" else f"{_BEGINS.get(prefix, prefix)}-{kind}"
