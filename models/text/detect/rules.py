"""Rules for what a tagger misses: addresses, numbers, dates, times and amounts, written or spoken, in each language.

Types: EMAIL, URL, PHONE, CARD, IBAN, ID, CODE, DATE, TIME, AMOUNT; PER only where a word beside it tells: after a form of
address ("frau weber") or an introduction in other languages, "call april" and "will said" in English; LOC of streets in other
languages. Other people, places and organisations need a tagger. The rules lean towards finding too much: what they miss stays
in the clear, what they find too much costs utility only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.settings import require
from sottovoce.models.text.detect import CONTEXT, ENGLISH, ByLanguage
from sottovoce.models.text.detect.cues import find_cued
from sottovoce.models.text.detect.overlap import resolve, without_loose
from sottovoce.models.text.detect.patterns import find_addresses, find_written
from sottovoce.models.text.detect.spoken_patterns import find_spoken
from sottovoce.models.text.detect.word_names import find_word_names
from sottovoce.models.text.languages import TABLE, language
from sottovoce.models.text.words import read_words

TYPES = ("EMAIL", "URL", "PHONE", "CARD", "IBAN", "ID", "CODE", "DATE", "TIME", "AMOUNT", "PER", "LOC")


@dataclass
class Rules(ByLanguage):
    """`types` limits what is looked for; `phone_regions` are the numbering plans of numbers without a country code, where they
    are not those of the language."""

    types: tuple[str, ...] = TYPES
    phone_regions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [type_ for type_ in self.types if type_ not in TYPES]
        require(
            (not unknown, f"types: {', '.join(unknown)} not known; allowed: {', '.join(TYPES)}"),
            (
                all(len(region) == 2 and region.isupper() for region in self.phone_regions),
                "phone_regions: expected two capital letters each, such as US or GB",
            ),
        )
        self._wanted = frozenset(self.types)

    def setup(self) -> None:
        """Nothing to load."""

    def detect_in(self, code: str, texts: Sequence[str]) -> list[list[Span]]:
        code = code if code in TABLE else ENGLISH
        return [self._detect(text, code, self.phone_regions or language(code).regions) for text in texts]

    def _detect(self, text: str, code: str, regions: tuple[str, ...]) -> list[Span]:
        words = read_words(text, code)
        found = [*find_written(text, regions, code), *find_spoken(words, regions, code)]
        found += find_addresses(text, words, code)
        found += find_word_names(text, words) if code == ENGLISH else find_cued(text, words, code)
        spans = (Span(begin, end, type_, 1.0, "rules") for begin, end, type_ in found if type_ in self._wanted)
        return resolve(without_loose(spans, text, code), text)

    def finds(self) -> frozenset[str]:
        return self._wanted

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="detect",
            mechanism="rules",
            says=f"Finds by patterns, in written and in spoken text ({', '.join(TABLE)}): {', '.join(self.types)}.",
            not_protected=(
                "names of people, places and organisations: rules do not find them",
                "what no pattern foresees, and every other language",
                CONTEXT,
            ),
            parameters={"types": list(self.types), "phone_regions": list(self.phone_regions)},
        )
