"""How words sound: the pronunciations of the CMU dictionary inside pocketsphinx, else the project's own pronouncer's."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sottovoce.models.speech.pronounce import Pronouncer
from sottovoce.models.speech.sphinx import PHONES

Phones = tuple[str, ...]
ALL_PHONES: Phones = tuple(PHONES.split())


@dataclass(frozen=True, repr=False)
class Lexicon:
    """Each word's pronunciations, the usual one first."""

    pronunciations: dict[str, tuple[Phones, ...]]

    @classmethod
    def of(cls, words: Iterable[str]) -> Lexicon:
        """Words that have no sound at all are left out: `in` tells."""
        known, pronouncer = _dictionary(), Pronouncer()
        found: dict[str, tuple[Phones, ...]] = {}
        for word in sorted(set(words)):
            sounds = known.get(word) or tuple(tuple(said.split()) for said in pronouncer.pronounce(word))
            if sounds:
                found[word] = sounds
        return cls(found)

    def __contains__(self, word: str) -> bool:
        return word in self.pronunciations

    def usual(self, words: Iterable[str]) -> Phones:
        """The words in a row, each as it is usually said."""
        return tuple(phone for word in words for phone in self.pronunciations[word][0])


@functools.cache
def _dictionary() -> dict[str, tuple[Phones, ...]]:
    import pocketsphinx

    found: dict[str, list[Phones]] = {}
    with open(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"), encoding="utf-8") as lines:
        for line in lines:
            name, *phones = line.split()
            found.setdefault(re.sub(r"\(\d+\)$", "", name), []).append(tuple(phones))
    return {name: tuple(sounds) for name, sounds in found.items()}
