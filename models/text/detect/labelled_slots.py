"""What the corpus itself labels as sensitive is taken as found, and shows how much the detector alone would have missed.

A slot is sensitive by its name. Adding its span never shrinks what a detector covers (`overlap.py`). Its words, counted as
`sottovoce evaluate detect` counts them, are a sample of the operator's own data with known answers: recall on it, with its
interval, says more of this corpus than any public set does. Words that name nobody ("me and my mother") are covered with
their slot, and not counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Slot, Span
from sottovoce.models.settings import require
from sottovoce.models.text.detect.builder.corpora import names_nothing, ordinary_words
from sottovoce.models.text.detect.coverage import covers, stem, wilson
from sottovoce.models.text.detect.overlap import resolve
from sottovoce.models.text.edits import split_at_slots

MECHANISM = "slots of the corpus"
COUNTED = ("values", "values_found", "words", "words_found")
DEFAULT, NOT, UNKNOWN_TYPE = "default", "!", "OTHER"
_NOT_TOLD = "How many there are and how many it had missed is not told: exact counts would tell of single people."
_ADDED = "The spans of sensitive slots are added to what the detector finds."
_ITEM = re.compile(r"!?[\w.:/+#*?\[\]-]+(=[A-Z][A-Z_]*)?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GLUE = re.compile(r"[-.:/+# ]+")


@dataclass(frozen=True)
class SlotSettings:
    """Names or globs of slots: `default` for those of the table, `glob=TYPE` to say the type, `!glob` for none of these."""

    sensitive_slots: tuple[str, ...] = (DEFAULT,)

    def __post_init__(self) -> None:
        wrong = [item for item in self.sensitive_slots if not _ITEM.fullmatch(item) or (item[0] == NOT and "=" in item)]
        require(
            (
                not wrong,
                f"sensitive_slots: {', '.join(map(repr, wrong))} not understood; allowed: names or globs of slots, "
                f"glob=TYPE, !glob, default",
            )
        )

    def type_of(self, slot: str) -> str | None:
        """The type of the slot's values; None where they are not sensitive."""
        return _type_of(self.sensitive_slots, slot)

    def add(self, text: str, found: Sequence[Span], slots: Sequence[Slot]) -> list[Span]:
        """What a detector found and what is labelled, as one clean list in which no span reaches over two slots."""
        return split_at_slots(text, resolve([*found, *self.spans(slots)], text), slots)

    def spans(self, slots: Sequence[Slot]) -> list[Span]:
        """Spans of the sensitive slots, with certainty 1 and "slots" as their detector."""
        found = [(slot, self.type_of(slot.name)) for slot in slots]
        return [Span(slot.begin, slot.end, type_, 1.0, "slots") for slot, type_ in found if type_ is not None]

    def ledger(self, counts: Mapping[str, Mapping[str, int]] | None) -> LedgerEntry:
        """`counts`: by type, as `count` makes them, of the whole run; None where a crowd alone is released."""
        measured = recalls(counts or {})
        return LedgerEntry(
            stage="detect",
            mechanism=MECHANISM,
            says=f"{_ADDED} {_NOT_TOLD}" if counts is None else _in_words(measured),
            not_protected=(
                "slots under names that detect.sensitive_slots does not list",
                "what the corpus does not label: there the detector's misses are published"
                if counts is not None
                else "what neither the corpus labels nor the detector finds: it is a word of its template, and goes out only "
                "where enough speakers said the same",
            ),
            parameters={"sensitive_slots": list(self.sensitive_slots), "recall_of_the_detector": measured},
        )


def measured_again(entry: dict[str, Any], counts: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The entry of a ledger for the counts of what is left, after records were taken out; any other entry as it is."""
    if entry["mechanism"] != MECHANISM:
        return entry
    measured = recalls(counts)
    parameters = entry["parameters"] | {"recall_of_the_detector": measured}
    return entry | {"says": _in_words(measured), "parameters": parameters}


def count(text: str, found: Sequence[Span], labelled: Sequence[Span]) -> dict[str, Counter[str]]:
    """By type of the labelled spans: values and words, and how many of each the detector's spans cover."""
    covered = bytearray(len(text))
    for span in found:
        covered[span.begin : span.end] = b"\1" * (span.end - span.begin)
    counts: dict[str, Counter[str]] = {}
    for span in labelled:
        words = _words_found(text, span, covered)
        if words:
            found_of_it = (1, int(all(words)), len(words), sum(words))
            counts.setdefault(span.type, Counter()).update(dict(zip(COUNTED, found_of_it, strict=True)))
    return counts


def _words_found(text: str, span: Span, covered: Sequence[int]) -> list[bool]:
    """For each word that could tell something: is it covered? Nothing for values that name nobody ("my", "everyone")."""
    words = list(re.finditer(r"\S+", text[span.begin : span.end]))
    if names_nothing((word.group() for word in words), span.type):
        return []
    telling = [word for word in words if stem(word.group().lower()) not in ordinary_words(span.type)]
    hits = (covers(covered, text, span.begin + word.start(), word.group()) for word in telling)
    return [hit for hit in hits if hit is not None]


def recalls(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, Any]]:
    """Recall with its 95 % interval, for words and for whole values: by type, and of all types together."""
    total: Counter[str] = Counter()
    for own in counts.values():
        total.update(own)
    rows = {"all": total, **{type_: counts[type_] for type_ in sorted(counts)}} if counts else {}
    return {
        name: {
            what: {
                "labelled": own[what],
                "missed": own[what] - own[f"{what}_found"],
                "recall": own[f"{what}_found"] / own[what],
                "interval": list(wilson(own[f"{what}_found"], own[what])),
            }
            for what in ("words", "values")
        }
        for name, own in rows.items()
    }


def _in_words(measured: Mapping[str, Any]) -> str:
    if not measured:
        return f"{_ADDED} This corpus labels none."
    words = measured["all"]["words"]
    low, high = words["interval"]
    return (
        f"{_ADDED} Of {words['labelled']:,} labelled words it "
        f"had missed {words['missed']:,}: its recall on this corpus's own labels is {words['recall']:.1%} "
        f"(95 % interval {low:.1%} to {high:.1%}, for words drawn independently)."
    )


@lru_cache(maxsize=4096)
def _type_of(items: tuple[str, ...], slot: str) -> str | None:
    if any(_fits(slot, item[1:]) for item in items if item[0] == NOT):
        return None
    usual, listed = _usual(slot)
    for item in items:
        glob, _, type_ = item.partition("=")
        if item[0] != NOT and glob != DEFAULT and _fits(slot, glob):
            return type_ or usual or UNKNOWN_TYPE
    return usual if listed and DEFAULT in items else None


def usual_type(slot: str) -> str:
    """What kind of value a slot of this name holds, sensitive or not; empty where the table does not know it."""
    return _usual(slot)[0]


@lru_cache(maxsize=4096)
def _usual(slot: str) -> tuple[str, bool]:
    return next(((type_, added) for glob, type_, added in _table() if _fits(slot, glob)), ("", False))


def _fits(slot: str, glob: str) -> bool:
    name, glob = _plain(slot), _plain(glob)
    return fnmatchcase(name, glob) or fnmatchcase(f"_{name}", glob)


def _plain(name: str) -> str:
    return _GLUE.sub("_", _HUMP.sub("_", name)).lower()


@cache
def _table() -> tuple[tuple[str, str, bool], ...]:
    text = resources.files("sottovoce.models.text.detect").joinpath("sensitive_slots.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return tuple((glob, type_, added == "yes") for glob, type_, added in lines[1:])
