"""Word error rate: how many words a recogniser gets wrong, per word that was said.

Recognisers differ in how they write what they heard ("eight oh seven", "807"), which is no error. Number words become
digits and every digit counts as one word, so that both writings agree; case and punctuation are dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sottovoce.models.text.edit_distance import edit_distance

TOKEN = re.compile(r"(?:[^\W\d_]|')+|\d")  # letters of every language
NUMBERS_READ = ("de", "en", "es", "fr", "it", "nl", "pt")  # whose number words are read; of others a digit is a word
ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)\b")


@dataclass(frozen=True)
class WordErrors:
    """Errors and words of one or many sentences; they add up, and the rate is taken at the end."""

    errors: int
    words: int

    @property
    def rate(self) -> float:
        return self.errors / self.words if self.words else float("nan")

    def __add__(self, other: WordErrors) -> WordErrors:
        return WordErrors(self.errors + other.errors, self.words + other.words)


def word_errors(said: str, heard: str, language: str | None = "en") -> WordErrors:
    """Fewest words to insert, drop or change in what was said to get what was heard, and how many words were said."""
    reference = tokens(said, language)
    return WordErrors(edit_distance(reference, tokens(heard, language)), len(reference))


def tokens(text: str, language: str | None = "en") -> list[str]:
    """The words that are compared: lower case, one digit a word. `language` may have a region ("en-GB"); None is English."""
    text = text.lower().replace("’", "'").replace("-", " ")
    code = (language or "en")[:2]
    if code in NUMBERS_READ:
        from text_to_num import alpha2digit

        text = alpha2digit(re.sub(r"[^\w' ]", " ", text), code, 0)
    if code == "en":
        text = re.sub(r"\boh\b", "0", text)
    return TOKEN.findall(ORDINAL.sub(r"\1", text))
