"""Apply edits to a text and move its slots along, so that an example for language understanding stays a valid example.

Which slot gets the replacement where an edit touches several: first the slots that keep no word of their own outside
the edits (the replacement is shared among them in order, at spaces), else the slot that overlaps the edit most. The other
slots keep what the edit left them. So every slot keeps its name, its place in the order and at least one word; where that
cannot be, the record is refused.

So that nothing has to be shared, spans are cut at the borders of slots beforehand. "san francisco california" is one place to a
detector and a city and a state to the corpus: a span over several slots is cut where each further slot begins. Words between two
slots ("monday *at* six") go with the first: every letter and figure that the span covered is covered still. Spaces at the ends of
a piece, and marks there that part it from a word ("san francisco*,* california"), stay: without them words would run into one.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from sottovoce.models.errors import Refusal
from sottovoce.models.records import Edit, Slot, Span

_MARKS = ("P", "Sm", "Sc")  # categories of Unicode; accents, emoji and their joiners belong to what is covered


class BadOffsets(Refusal):
    code = "bad_offsets"
    allowed = "edits and slots that lie inside the text and do not overlap; no empty slot"


class SlotLost(Refusal):
    code = "slot_lost"
    allowed = "replacements that leave every slot at least one word"


def apply_edits(text: str, edits: Sequence[Edit], slots: Sequence[Slot] = ()) -> tuple[str, tuple[Slot, ...]]:
    """The new text and the slots at their new offsets, in the order of the text."""
    edits = sorted(edits, key=lambda edit: (edit.begin, edit.end))
    slots = sorted(slots, key=lambda slot: (slot.begin, slot.end))
    _check(text, edits)
    _check(text, slots)
    if any(slot.begin == slot.end for slot in slots):
        raise BadOffsets
    pieces: list[str] = []
    starts: list[int] = []  # of the replacements, in the new text
    at = shift = 0
    for edit in edits:
        pieces += (text[at : edit.begin], edit.replacement)
        starts.append(edit.begin + shift)
        shift += len(edit.replacement) - (edit.end - edit.begin)
        at = edit.end
    pieces.append(text[at:])
    new_text = "".join(pieces)
    if not slots:
        return new_text, ()
    return new_text, _move(text, new_text, edits, starts, slots)


def _check(text: str, stretches: Sequence[Edit] | Sequence[Slot]) -> None:
    at = 0
    for stretch in stretches:
        if not at <= stretch.begin <= stretch.end <= len(text):
            raise BadOffsets
        at = stretch.end


def _move(
    text: str, new_text: str, edits: Sequence[Edit], starts: Sequence[int], slots: Sequence[Slot]
) -> tuple[Slot, ...]:
    """Collect for each slot the stretches of the new text that are its own, and span from the first to the last."""
    owned = [_kept(edits, starts, slot) for slot in slots]
    needy = [not any(text[b:e].strip() for b, e in _outside(edits, slot)) for slot in slots]
    for edit, start in zip(edits, starts, strict=True):
        touching = [i for i, slot in enumerate(slots) if slot.begin < edit.end and edit.begin < slot.end]
        if not touching or not edit.replacement:
            continue
        claimants = [i for i in touching if needy[i]]
        if not claimants:
            claimants = [max(touching, key=lambda i: min(slots[i].end, edit.end) - max(slots[i].begin, edit.begin))]
        for i, (begin, end) in zip(claimants, _share(edit.replacement, len(claimants)), strict=True):
            owned[i].append((start + begin, start + end))
            needy[i] = False
    moved = []
    for slot, stretches in zip(slots, owned, strict=True):
        if not stretches:
            raise SlotLost
        begin, end = _trim(new_text, min(b for b, _ in stretches), max(e for _, e in stretches))
        moved.append(Slot(begin, end, slot.name))
    return tuple(moved)


def _outside(edits: Sequence[Edit], slot: Slot) -> list[tuple[int, int]]:
    """The stretches of the old text inside the slot that no edit touches."""
    stretches, at = [], slot.begin
    for edit in edits:
        if edit.end <= at:
            continue
        if edit.begin >= slot.end:
            break
        if edit.begin > at:
            stretches.append((at, edit.begin))
        at = max(at, edit.end)
    if at < slot.end:
        stretches.append((at, slot.end))
    return stretches


def _kept(edits: Sequence[Edit], starts: Sequence[int], slot: Slot) -> list[tuple[int, int]]:
    """The same stretches where they stand in the new text."""
    stretches = []
    for begin, end in _outside(edits, slot):
        last = bisect_right(edits, begin, key=lambda edit: edit.end) - 1  # the last edit before this stretch
        shift = starts[last] + len(edits[last].replacement) - edits[last].end if last >= 0 else 0
        stretches.append((begin + shift, end + shift))
    return stretches


def _share(replacement: str, count: int) -> list[tuple[int, int]]:
    """`count` stretches of the replacement, in order, each of whole words."""
    if count == 1:
        return [(0, len(replacement))]
    words = [match.start() for match in re.finditer(r"\S+", replacement)]
    if len(words) < count:
        raise SlotLost
    return list(itertools.pairwise([0, *words[1:count], len(replacement)]))


def _trim(text: str, begin: int, end: int) -> tuple[int, int]:
    """Without the spaces at its ends, unless it is nothing but space."""
    stripped = text[begin:end].strip()
    if not stripped:
        return begin, end
    begin += len(text[begin:end]) - len(text[begin:end].lstrip())
    return begin, begin + len(stripped)


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
