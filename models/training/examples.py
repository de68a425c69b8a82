"""Labelled sentences for intent and slot models, read from the `slu` sink or from JSON lines.

A row has `text, intent, slots` (characters [begin, end) and a name) or `tokens, tags, intent` (BIO). Rows without an
intent cannot be learned from and are counted, not kept. Every other fault stops the reading, and names the file and the
line but never what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Source
from sottovoce.models.training.rows import Row, rows_of
from sottovoce.models.training.tasks.task import Fault, TaskCorpus, name_of

TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, repr=False)
class Example:
    """`speaker` is what speaker-level privacy counts by; None where the data does not say. So with `dialogue`, `language`."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    intent: str
    source: Source
    speaker: str | None = None
    dialogue: str | None = None
    language: str | None = None

    def __repr__(self) -> str:
        return "<Example: sensitive>"

    @property
    def content(self) -> tuple[str, ...]:
        """All that a model learns of it, as words: equal for equal examples, whoever said them."""
        return (*self.tokens, *self.tags, self.intent)


@dataclass(frozen=True)
class Labels:
    """The names that a model may answer with. They are published with the model: the schema counts as public."""

    intents: tuple[str, ...]
    slots: tuple[str, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """BIO tags in the order of the network's outputs: "O", then B- and I- of each slot."""
        return ("O", *(f"{part}-{slot}" for slot in self.slots for part in "BI"))


def read_corpus(path: str | Path, split: str | None = None, commit: str | None = None) -> TaskCorpus:
    """Examples of a run or of JSON lines (`rows_of`); `split` keeps rows of that split."""
    return read_examples(rows_of(Path(path), commit), split)


def read_examples(rows: Iterable[Row], split: str | None = None) -> TaskCorpus:
    """Examples of one split, or of all; rows without an intent are counted. A bad row is a CorpusError, without its text."""
    examples, without = [], 0
    for source, row in rows:
        if split is not None and row.get("split") != split:
            continue
        if not row.get("intent"):
            without += 1
            continue
        try:
            examples.append(_example(row, source))
        except Fault as fault:
            raise CorpusError(f"{source.file}: line {source.line}: {fault}") from None
    return TaskCorpus(examples, without)


def labels_of(examples: Iterable[Example]) -> Labels:
    """Intents and slots that occur in the examples, each sorted."""
    rows = list(examples)
    slots = {tag[2:] for row in rows for tag in row.tags if tag != "O"}
    return Labels(tuple(sorted({row.intent for row in rows})), tuple(sorted(slots)))


def check_labels(examples: Iterable[Example], labels: Labels) -> None:
    """Data that uses a name outside a declared schema is refused: the model would silently learn to drop it."""
    for row in examples:
        for kind, used, known in (
            ("intent", {row.intent}, set(labels.intents)),
            ("slot", {tag[2:] for tag in row.tags if tag != "O"}, set(labels.slots)),
        ):
            if used - known:
                raise CorpusError(
                    f"{row.source.file}: line {row.source.line}: unknown {kind}; `labels` declares {len(known)} others. "
                    "Declare it, or leave `labels` out to take the names from the data"
                )


def _example(row: Mapping[str, Any], source: Source) -> Example:
    tokens, tags = _given_tags(row) if "tokens" in row else _tags_from_slots(row)
    speaker, dialogue = (None if row.get(name) is None else str(row[name]) for name in ("speaker", "dialogue_id"))
    said = row.get("lang") or row.get("language")
    return Example(
        tokens, tags, name_of(row["intent"], "intent"), source, speaker, dialogue, str(said) if said else None
    )


def _given_tags(row: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    tokens, tags = row["tokens"], row.get("tags")
    if not isinstance(tokens, list) or not isinstance(tags, list) or not all(isinstance(x, str) for x in tokens + tags):
        raise Fault("tokens and tags must be two lists of text")
    if len(tokens) != len(tags):
        raise Fault(f"{len(tags)} tags for {len(tokens)} tokens; each token needs its tag")
    if not tokens:
        raise Fault("no tokens")
    for place, tag in enumerate(tags, 1):
        if tag != "O" and not (tag[:2] in ("B-", "I-") and len(tag) > 2):
            raise Fault(f"tag {place} is none of O, B-name, I-name")
    repaired = []
    for before, tag in zip(["O", *tags], tags, strict=False):
        begins = tag[0] == "I" and before[2:] != tag[2:]  # as conlleval reads an I- that continues nothing
        repaired.append(f"B-{tag[2:]}" if begins else tag)
    return tuple(tokens), tuple(repaired)


def _tags_from_slots(row: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    text = row.get("text")
    places = [match.span() for match in TOKEN.finditer(text)] if isinstance(text, str) else []
    if not places:
        raise Fault("the text has no word")
    begins, ends = {b: i for i, (b, _) in enumerate(places)}, {e: i for i, (_, e) in enumerate(places)}
    tags = ["O"] * len(places)
    slots = row.get("slots") or []
    if not isinstance(slots, list) or not all(
        isinstance(slot, dict) and {"begin", "end", "name"} <= set(slot) for slot in slots
    ):
        raise Fault("slots: expected a list of objects with begin, end and name")
    for number, slot in enumerate(slots, 1):
        first, last = begins.get(slot["begin"]), ends.get(slot["end"])
        if first is None or last is None or last < first:
            raise Fault(f"slot {number} does not begin and end where words do: label not aligned with tokens")
        if any(tag != "O" for tag in tags[first : last + 1]):
            raise Fault(f"slot {number} overlaps another one")
        tags[first : last + 1] = [f"B-{slot['name']}"] + [f"I-{slot['name']}"] * (last - first)
    return tuple(text[b:e] for b, e in places), tuple(tags)  # type: ignore[index]
