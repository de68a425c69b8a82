"""The language of a record: what it says itself, else what the job says of all, else a guess from its words.

A guess is py3langid's (BSD; character n-grams, 140 languages). Few words tell little: "play anna" may be Latvian. So a text is
taken for another language than those that the run expects only where the other one is e^MARGIN times as likely, and a text of one
or two words never is. Measured with `python tools/measure_language.py`; docs/input.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from sottovoce.models.errors import Refusal

MARGIN = 12.0
FEWEST_WORDS = 3

# Other names of languages, one row each; codes of two letters are themselves.
NAMES = {
    "en": ("eng", "english"),
    "de": ("deu", "ger", "german", "deutsch"),
    "fr": ("fra", "fre", "french", "francais"),
    "es": ("spa", "spanish", "espanol"),
    "it": ("ita", "italian", "italiano"),
    "nl": ("nld", "dut", "dutch", "nederlands"),
    "pt": ("por", "portuguese", "portugues"),
    "lv": ("lav", "latvian"),
    "pl": ("pol", "polish", "polski"),
}
_CODES = {name: code for code, names in NAMES.items() for name in (code, *names)}


class LanguageNotSupported(Refusal):
    code = "language_not_supported"
    allowed = "a language that every stage on the record's way knows; input.other_languages: take lets all pass"


def code_of(language: str) -> str:
    """ "en-US", "EN" and "English" -> "en"; what is not known stays as it is, in lower case."""
    primary = re.split("[-_]", language.lower(), maxsplit=1)[0]
    return _CODES.get(primary, primary)


def guess(text: str, expected: Collection[str]) -> str:
    """The language of the text, one of `expected` unless another is far more likely."""
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    likely = sorted(expected)
    if len(words) < FEWEST_WORDS:
        return likely[0]
    ranked = dict(_identifier().rank(" ".join(words)))
    best = max(ranked, key=ranked.__getitem__)
    own = max(likely, key=lambda language: ranked.get(language, float("-inf")))
    return best if ranked[best] - ranked.get(own, float("-inf")) > MARGIN else own


@cache
def _identifier() -> Any:
    import py3langid

    return py3langid
