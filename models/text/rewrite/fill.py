"""Fill the gaps of a released template: draws from public lists and from values that a crowd has said, nothing else.

What comes out is a function of what was released already and of keyed draws: it costs nothing more.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from sottovoce.models.records import Slot
from sottovoce.models.text.detect.labelled_slots import usual_type
from sottovoce.models.text.replace.distribution import Draws, ListDistribution
from sottovoce.models.text.replace.kinds import LISTED, READING
from sottovoce.models.text.replace.public_lists import public_lists
from sottovoce.models.text.replace.shape import email_like, same_shape, url_like
from sottovoce.models.text.rewrite.template import Gap, Piece

# Of these types a value has no list but a shape; each is drawn anew in the shape of one that nobody has.
SHAPES = {
    "PHONE": "oh seven seven one two three four five six",
    "CARD": "four one one one two two two two three three three three four four four four",
    "IBAN": "g b one two three four five six seven eight nine one two three four",
    "ID": "one two three four five six seven eight nine",
    "CODE": "one two three four five six",
    "AMOUNT": "twenty dollars",
}

Values = Mapping[str, Mapping[str, float]]  # slot -> value -> weight


class Filler:
    """`values`: what was released of the slots of this corpus; they come before the public list of a slot's usual type."""

    def __init__(self, values: Values):
        self._values = {slot: ListDistribution(weights) for slot, weights in values.items() if weights}

    def fill(self, pieces: Sequence[Piece], draws: Draws) -> tuple[str, tuple[Slot, ...]]:
        """The text and its slots. A gap for which there is no list is left out, with its slot."""
        words: list[str] = []
        slots: list[Slot] = []
        at = 0
        for piece in pieces:
            word = piece if isinstance(piece, str) else piece.said or self._value(piece, draws)
            if not word:
                continue
            if isinstance(piece, Gap) and piece.slot:
                slots.append(Slot(at, at + len(word), piece.slot))
            words.append(word)
            at += len(word) + 1
        return " ".join(words), tuple(slots)

    def _value(self, gap: Gap, draws: Draws) -> str:
        if gap.slot in self._values:
            return self._values[gap.slot].draw(draws)
        return of_type(gap.type or usual_type(gap.slot), draws)


def of_type(type_: str, draws: Draws) -> str:
    """A value of a type of span; nothing for a type that nothing is known of."""
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
