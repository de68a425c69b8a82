"""The language of a record: what it says itself, else what the job says of all, else a guess from its words.

A guess is py3langid's (BSD; character n-grams, 140 languages). Few words tell little: "play anna" may be Latvian. So a text is
taken for another language than those that the run expects only where the other one is e^MARGIN times as likely, and a text of one
or two words never is. Measured with `python tools/measure_language.py`; docs/input.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any

from sottovoce.models.errors import Refusal
from sottovoce.models.records import Span
from sottovoce.models.text.detect import ENGLISH, ByLanguage, Detector
from sottovoce.models.text.languages import TABLE
from sottovoce.models.text.languages import language as known_words

MARGIN = 12.0
FEWEST_WORDS = 3


class LanguageNotSupported(Refusal):
    code = "language_not_supported"
    allowed = "a language that every stage on the record's way knows; input.other_languages: take lets all pass"


def not_supported(limits: str) -> LanguageNotSupported:
    """The refusal that names the members of the job which know too few languages (`settings.language_limits`)."""
    refusal = LanguageNotSupported()
    if limits:
        refusal.allowed = (
            f"a language that all of these know: {limits}; other members know others (docs/languages.md), and "
            "input.other_languages: take lets all pass"
        )
    return refusal


@lru_cache(maxsize=256)
def code_of(language: str) -> str:
    """ "en-US", "EN" and "English" -> "en"; what is not known stays as it is, in lower case."""
    primary = re.split("[-_]", language.lower(), maxsplit=1)[0]
    return _CODES.get(primary, primary)


def guess(text: str, expected: Collection[str]) -> str:
    """The language of the text: English where it is expected, unless another is far more likely; and one of `expected`, unless
    one that is not is far more likely."""
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    likely = sorted(expected)
    home = "en" if "en" in expected else likely[0]
    if len(words) < FEWEST_WORDS:
        return home
    ranked = dict(_identifier().rank(" ".join(words)))

    def beyond(one: str, other: str) -> bool:
        return bool(ranked.get(one, float("-inf")) - ranked.get(other, float("-inf")) > MARGIN)

    own = max(likely, key=lambda language: ranked.get(language, float("-inf")))
    best = max(ranked, key=ranked.__getitem__)
    found = best if beyond(best, own) else own
    return found if home != "en" or beyond(found, home) else home


def spoken_in(text: str, said: str | None, known: Collection[str] | None) -> str:
    """The code of what is said of the text, else of a guess; English where nobody on its way depends on a language."""
    return code_of(said or (ENGLISH if known is None else guess(text, known)))


def detect_in(detector: Detector, code: str, texts: Sequence[str]) -> list[list[Span]]:
    """The spans of texts in one language."""
    return detector.detect_in(code, texts) if isinstance(detector, ByLanguage) else detector.detect(texts)


@cache
def _identifier() -> Any:
    import py3langid

    return py3langid


# By every name of a language in the table. Last in this file: a row may be a file of somebody's own, whose imports need this one.
_CODES = {name: code for code in TABLE for name in (code, *known_words(code).names)}
