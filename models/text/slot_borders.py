"""Cut spans at the borders of slots, so that each slot is replaced for itself and stays whole.

"san francisco california" is one place to a detector and a city and a state to the corpus. One replacement for both could only
be cut to pieces (`[L` and `OC]`). So a span over several slots is cut where each further slot begins. Words between two slots
("monday *at* six") go with the first: every letter and figure that the span covered is covered still. Spaces at the ends of a
piece, and marks there that part it from a word ("san francisco*,* california"), stay: without them words would run into one.
"""

from __future__ import annotations

import dataclasses
import itertools
import unicodedata
from collections.abc import Iterator, Sequence

from sottovoce.models.records import Slot, Span

_MARKS = ("P", "Sm", "Sc")  # categories of Unicode; accents, emoji and their joiners belong to what is covered


def split_at_slots(text: str, spans: Sequence[Span], slots: Sequence[Slot]) -> list[Span]:
    """Sorted spans without spaces at their ends that overlap no two slots each, of the types that they were cut from."""
    return [piece for span in spans for piece in _pieces(text, span, slots)] if slots else list(spans)


def _pieces(text: str, span: Span, slots: Sequence[Slot]) -> Iterator[Span]:
    begins = sorted(slot.begin for slot in slots if slot.begin < span.end and span.begin < slot.end)
    for begin, end in itertools.pairwise([span.begin, *begins[1:], span.end]):
        left, right = begin > 0 and text[begin - 1].isalnum(), end < len(text) and text[end].isalnum()
        while begin < end and _is_gap(text[begin], beside_word=left):
            begin += 1
        while begin < end and _is_gap(text[end - 1], beside_word=right):
            end -= 1
        if begin < end:
            yield dataclasses.replace(span, begin=begin, end=end)


def _is_gap(character: str, beside_word: bool) -> bool:
    return character.isspace() or (beside_word and unicodedata.category(character).startswith(_MARKS))
