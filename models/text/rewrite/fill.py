"""Fill the gaps of a released template: draws from public lists and from values that a crowd has said, nothing else.

What comes out is a function of what was released already and of keyed draws: it costs nothing more. Where both are at hand a coin
chooses: the values that a crowd said are few and would come again and again, and what learns from them would take them for the
intent itself ("doctor's appointment" for a reminder).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from sottovoce.models.records import Slot
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.labelled_slots import usual_type
from sottovoce.models.text.language import code_of
from sottovoce.models.text.replace import in_language
from sottovoce.models.text.replace.distribution import Draws, ListDistribution
from sottovoce.models.text.replace.kinds import LISTED, READING
from sottovoce.models.text.replace.public_lists import public_lists
from sottovoce.models.text.replace.shape import email_like, same_shape, url_like
from sottovoce.models.text.rewrite.template import FUNCTION_WORDS, Gap, Piece, common_words

OF_THE_CROWD = 0.5  # how often a gap that may be filled either way gets a value that a crowd said
LONGEST_VALUE = 3
WORDS_TOGETHER = 3  # of an intent, where single words were released: chosen among 1, 3, 6 on the validation set of ATIS
# Of these types a value has no list but a shape; each is drawn anew in the shape of one that nobody has.
SHAPES = {
    "PHONE": "oh seven seven one two three four five six",
    "CARD": "four one one one two two two two three three three three four four four four",
    "IBAN": "g b one two three four five six seven eight nine one two three four",
    "ID": "one two three four five six seven eight nine",
    "CODE": "one two three four five six",
    "AMOUNT": "twenty dollars",
}
# The same in other languages, where figures are drawn for figures, and names and days from the lists of the language.
WRITTEN = {
    "PHONE": "077 123 456",
    "CARD": "4111 2222 3333 4444",
    "IBAN": "12 345 678",
    "ID": "123456789",
    "CODE": "123456",
    "AMOUNT": "20",
}

Values = Mapping[str, Mapping[str, float]]  # slot -> value -> weight, and `release.lists_in` says of which words


class Filler:
    """`values`: what was released of the slots of this corpus, and of the single words of its intents."""

    def __init__(self, values: Values):
        self._values = {slot: ListDistribution(weights) for slot, weights in values.items() if weights}

    def fill(
        self, pieces: Sequence[Piece], draws: Draws, language: str | None = None, any_words: bool = False
    ) -> tuple[str, tuple[Slot, ...]]:
        """The text and its slots. A gap that nothing is known of gets a few common words where `any_words` may stand, which
        tells that anything may be said there; the words are English, so in other languages it is left out, with its slot."""
        words: list[str] = []
        slots: list[Slot] = []
        at = 0
        for piece in pieces:
            word = piece if isinstance(piece, str) else piece.said or self._value(piece, draws, language, any_words)
            if not word:
                continue
            if isinstance(piece, Gap) and piece.slot:
                slots.append(Slot(at, at + len(word), piece.slot))
            words.append(word)
            at += len(word) + 1
        return " ".join(words), tuple(slots)

    def together(self, word: str, intent: str, draws: Draws) -> str:
        """A word that was released for itself, with others of its intent: what learns from it sees them side by side."""
        others = self._values[intent]
        return " ".join((word, *(others.draw(draws) for _ in range(WORDS_TOGETHER - 1))))

    def _value(self, gap: Gap, draws: Draws, language: str | None, any_words: bool) -> str:
        own = self._values.get(gap.slot)
        if own and draws.uniform() < OF_THE_CROWD:
            return own.draw(draws)
        code = code_of(language or ENGLISH)
        listed = of_type(gap.type or usual_type(gap.slot), draws, code)
        if not listed and any_words and gap.slot and code == ENGLISH:
            return " ".join(_common().draw(draws) for _ in range(1 + draws.below(LONGEST_VALUE)))
        return listed or (own.draw(draws) if own else "")


def of_type(type_: str, draws: Draws, code: str = ENGLISH) -> str:
    """A value of a type of span; nothing for a type that nothing is known of."""
    if code != ENGLISH and code in in_language.LANGUAGES:
        known = type_ in LISTED or type_ in WRITTEN or type_ in ("EMAIL", "URL")
        return in_language.surrogate(code, type_, WRITTEN.get(type_, ""), draws, False, False) if known else ""
    if type_ in LISTED:
        return _list_of(type_).draw(draws)
    if type_ == "EMAIL":
        return email_like("", _list_of("PER"), draws)
    if type_ == "URL":
        return url_like("", draws)
    return same_shape(SHAPES[type_], draws, READING[type_]) or "" if type_ in SHAPES else ""


@functools.lru_cache(maxsize=len(LISTED))
def _list_of(type_: str) -> ListDistribution:
    """All classes of the list together: every form of a date, names of either gender."""
    name, lists = LISTED[type_], public_lists()
    if name in lists:
        return ListDistribution(lists[name])
    classes = [weights for key, weights in lists.items() if key.startswith(f"{name}/")]
    return ListDistribution({value: weight for weights in classes for value, weight in weights.items()})


@functools.lru_cache(maxsize=1)
def _common() -> ListDistribution:
    return ListDistribution(dict.fromkeys(sorted(common_words() - FUNCTION_WORDS), 1.0))
