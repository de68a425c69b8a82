"""Templates: an utterance with gaps where something was detected or labelled, and the ladder that makes them coarser.

A template is what a crowd can share: "wake me at {time}" is said by many, "wake me at ten past four" by few. Where it is still
rare, the next rung of the ladder keeps less of it:

* `said`: labelled slots keep their values, unless a detector marked more in them than a time;
* `full`: every word outside the gaps, in lower case;
* `common`: words outside a public list of common words become gaps as well, and leave nothing behind;
* `skeleton`: the gaps, and of the common words those that carry meaning.

Last, `parts`: one word of it that carries meaning, common or not, or one value of a slot.

Each rung is a function of the one utterance and of public lists, so it may be chosen freely: what is paid for is the count.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal

from sottovoce.models.errors import Refusal
from sottovoce.models.records import Utterance
from sottovoce.models.text.words import read_words

Rung = Literal["said", "full", "common", "skeleton"]

# Words that say little of what somebody wants: the skeleton leaves them out.
_FUNCTION_WORDS = (
    "a about all also am an and any are as at be been but by can could did do does for from get give go going got had has "
    "have hello hey hi i i'd i'll i'm if in is it it's its just let like me my need now of oh ok okay on or our please so some "
    "thank thanks that that's the their them then there these they this those to too uh um us want wanna was we well were "
    "will with would you your"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class NoTemplate(Refusal):
    code = "no_template"
    allowed = "a text with a letter or a figure in it"


@dataclass(frozen=True, slots=True)
class Gap:
    """`slot` is the name of a labelled slot, `type` that of a span outside the slots; one of them is empty. `said`: a
    labelled value that stays, and is labelled in what is released: one common word ("rain"), or any on the rung `said`."""

    slot: str = ""
    type: str = ""
    said: str = ""


Piece = str | Gap  # words are in lower case, without the spaces around them


def pieces_of(utterance: Utterance, as_said: bool = False) -> list[Piece]:
    """The utterance with gaps. A span that touches a slot belongs to it, and stretches that overlap are one gap. `as_said`:
    labelled values stay where nothing but times was detected in them."""
    pieces: list[Piece] = []
    at = 0
    for begin, end, gap in _gaps(utterance):
        pieces += _words(utterance.text[at:begin])
        value = " ".join(_words(utterance.text[begin:end])) if as_said and gap.slot and not gap.said else ""
        pieces.append(replace(gap, said=value) if value and not _names(utterance, begin, end) else gap)
        at = end
    pieces += _words(utterance.text[at:])
    if not pieces:
        raise NoTemplate
    return pieces


def values_of(utterance: Utterance) -> Iterator[tuple[str, str]]:
    """(slot, value in lower case) of labelled slots that are more than a common word, and name nothing but times."""
    for slot in utterance.slots:
        text = utterance.text[slot.begin : slot.end]
        if _names(utterance, slot.begin, slot.end) or _common_value(text):
            continue
        if value := " ".join(_words(text)):
            yield slot.name, value


def _names(utterance: Utterance, begin: int, end: int) -> bool:
    """Whether a detector marked anything there but times."""
    return any(span.begin < end and begin < span.end and span.type not in ("DATE", "TIME") for span in utterance.spans)


def _gaps(utterance: Utterance) -> list[tuple[int, int, Gap]]:
    found = [
        (slot.begin, slot.end, Gap(slot=slot.name, said=_common_value(utterance.text[slot.begin : slot.end])))
        for slot in utterance.slots
    ]
    found += [(span.begin, span.end, Gap(type=span.type)) for span in utterance.spans]
    merged: list[tuple[int, int, Gap]] = []
    for begin, end, gap in sorted(found, key=lambda one: one[:2]):
        if merged and begin < merged[-1][1]:
            first, last, known = merged[-1]
            slot = known.slot or gap.slot
            merged[-1] = (first, max(last, end), Gap(slot, "" if slot else known.type))
        else:
            merged.append((begin, end, gap))
    return merged


def _common_value(text: str) -> str:
    """The value itself if it is one common word, and neither a number nor a time: those make every template rare."""
    words = read_words(text)
    (word,) = words.lowered if len(words.lowered) == 1 else ("",)
    return word if word in common_words() and words.classes == "x" else ""


def _words(text: str) -> list[str]:
    return [match.group().replace("’", "'") for match in _WORD.finditer(text.casefold())]


def on_rung(pieces: Sequence[Piece], rung: str) -> list[Piece]:
    """The template as one rung leaves it. `said` and `full` change nothing here: `pieces_of` makes the difference."""
    return _RUNGS[rung](pieces)


def _common(pieces: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in pieces if isinstance(piece, Gap) or piece in common_words()]


def _skeleton(pieces: Sequence[Piece]) -> list[Piece]:
    """In the order of the alphabet, each once: who asks first for the place and then for the time asks the same."""
    kept = [piece for piece in _common(pieces) if isinstance(piece, Gap) or piece not in FUNCTION_WORDS]
    words = sorted({piece for piece in kept if isinstance(piece, str)})
    gaps = sorted({piece for piece in kept if isinstance(piece, Gap)}, key=lambda gap: (gap.slot, gap.type, gap.said))
    return [*words, *gaps]


def words_of(pieces: Sequence[Piece]) -> list[str]:
    """Words outside the gaps that carry meaning, each once, in the order of the alphabet."""
    return sorted({piece for piece in pieces if isinstance(piece, str) and piece not in FUNCTION_WORDS})


_RUNGS: dict[str, Callable[[Sequence[Piece]], list[Piece]]] = {
    "said": list,
    "full": list,
    "common": _common,
    "skeleton": _skeleton,
}


def to_key(pieces: Sequence[Piece], intent: str | None, language: str | None) -> str:
    """The partition that is counted: equal for equal templates, and all that is needed to fill it."""
    plain = [piece if isinstance(piece, str) else [piece.slot, piece.type, piece.said] for piece in pieces]
    return json.dumps([intent, language, plain], ensure_ascii=False, separators=(",", ":"))


def from_key(key: str) -> tuple[list[Piece], str | None, str | None]:
    """(pieces, intent, language) of a key that `to_key` made."""
    intent, language, plain = json.loads(key)
    return [piece if isinstance(piece, str) else Gap(*piece) for piece in plain], intent, language


@functools.lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Public: `tools/build_common_words.py` counted them in corpora that may be used freely (NOTICE)."""
    text = resources.files("sottovoce.models.text.rewrite").joinpath("common_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())
