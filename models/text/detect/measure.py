"""How much of what is sensitive a detector finds, and how much else it hits.

Token recall: the share of gold entity words that spans cover, whatever their type (`coverage.py`). Over-masking: the share
of all other words that a span touches, and how much of it the gold cannot judge (a mixed slot, a type that the set does not
label). Strict: entities whose words and type are the very ones of the gold. Annotators do not agree whether "the" belongs to
"the fifteenth": both figures are given a second time without small
words in or beside an entity. Intervals are Wilson's (1927) at 95 %, for words drawn independently; words of one utterance
are not quite, so read them as a guide.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sottovoce.models.records import Span
from sottovoce.models.text.detect import ENGLISH, Detector
from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, TaggedExample, stretches
from sottovoce.models.text.detect.coverage import signs, wilson
from sottovoce.models.text.language import detect_in

_CHUNK = 512
# What rules tell apart and the sets do not.
SAME = {"CARD": "CODE", "IBAN": "CODE", "ID": "CODE", "URL": "CODE"}
_SMALL_WORDS = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "in", "my", "next", "of", "on", "the", "this", "to")
)


@dataclass
class HitCount:
    """How many of a kind were found, of how many there are."""

    hit: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        self.hit += hit
        self.of += 1

    def without(self, other: HitCount) -> HitCount:
        return HitCount(self.hit - other.hit, self.of - other.of)

    @property
    def share(self) -> float:
        """Share that was found, 0 to 1; not a number where there are none."""
        return self.hit / self.of if self.of else float("nan")

    def interval(self) -> tuple[float, float]:
        return wilson(self.hit, self.of)


@dataclass
class Strict:
    """Entities with their very words and type: how many the gold has, how many were found, how many of these are right."""

    gold: int = 0
    found: int = 0
    right: int = 0

    @property
    def f1(self) -> float:
        """Harmonic mean of strict precision and recall; not a number where the gold has none and none was found."""
        return 2 * self.right / (self.gold + self.found) if self.gold + self.found else float("nan")


@dataclass
class Measured:
    """`types[t]`: words of gold type t that were found; `typed[t]`: found with that very type as well."""

    utterances: int = 0
    entity_words: HitCount = field(default_factory=HitCount)
    other_words: HitCount = field(default_factory=HitCount)
    small_entity_words: HitCount = field(default_factory=HitCount)
    small_other_words: HitCount = field(default_factory=HitCount)
    hits_untold: int = 0
    entities: HitCount = field(default_factory=HitCount)
    types: dict[str, HitCount] = field(default_factory=dict)
    typed: dict[str, HitCount] = field(default_factory=dict)
    strict: Strict = field(default_factory=lambda: Strict())

    def as_dict(self) -> dict:
        """Shares (0 to 1) and counts under the names that `sottovoce evaluate detect --json` prints."""
        return {
            "utterances": self.utterances,
            "entity_words": self.entity_words.of,
            "recall": self.entity_words.share,
            "interval": list(self.entity_words.interval()),
            "whole_entity_recall": self.entities.share,
            "strict_f1": self.strict.f1,
            "strict_recall": self.strict.right / max(self.strict.gold, 1),
            "strict_precision": self.strict.right / max(self.strict.found, 1),
            "over_masking": self.other_words.share,
            "over_masking_interval": list(self.other_words.interval()),
            "over_masking_untold": self.hits_untold / max(self.other_words.of, 1),
            "recall_without_small_words": self.entity_words.without(self.small_entity_words).share,
            "over_masking_without_small_words": self.other_words.without(self.small_other_words).share,
            "types": {
                kind: {
                    "words": count.of,
                    "recall": count.share,
                    "interval": list(count.interval()),
                    "same_type": self.typed[kind].share,
                }
                for kind, count in sorted(self.types.items())
            },
        }


def measure(
    detector: Detector, examples: Iterable[TaggedExample], done: Callable[[int], None] = lambda utterances: None
) -> Measured:
    """`detector` must be set up; `done` is told from time to time how many utterances are."""
    result = Measured()
    chunk: list[TaggedExample] = []
    for example in examples:
        chunk.append(example)
        if len(chunk) == _CHUNK:
            _count_all(detector, chunk, result)
            done(result.utterances)
            chunk = []
    _count_all(detector, chunk, result)
    return result


def _count_all(detector: Detector, chunk: Sequence[TaggedExample], result: Measured) -> None:
    for code in sorted({example.language for example in chunk}):
        own = [example for example in chunk if example.language == code]
        for example, spans in zip(
            own, detect_in(detector, code or ENGLISH, [example.text for example in own]), strict=True
        ):
            count(example, spans, result)


def count(example: TaggedExample, spans: Sequence[Span], result: Measured) -> None:
    """Adds one utterance to `result`; spans are in characters of `example.text`."""
    result.utterances += 1
    _count_strictly(example, spans, result.strict)
    text = example.text
    types = [""] * len(text)
    for span in spans:
        types[span.begin : span.end] = [span.type] * (span.end - span.begin)
    begin, whole = 0, None
    small = _small(example)
    for at_word, (token, label) in enumerate(zip(example.tokens, example.labels, strict=True)):
        places = signs(text, begin, token)
        begin += len(token) + 1
        prefix, _, kind = label.partition("-")
        if whole is not None and prefix != "I":
            result.entities.add(whole)
            whole = None
        if not places:
            continue  # a punctuation mark on its own tells nothing
        if not kind:
            hit = any(types[at] for at in places)
            result.other_words.add(hit)
            if at_word in small:
                result.small_other_words.add(hit)
            result.hits_untold += hit and (
                label == MIXED or {types[at] for at in places if types[at]} <= example.unlabelled
            )
            continue
        covered = all(types[at] for at in places)
        result.entity_words.add(covered)
        if at_word in small:
            result.small_entity_words.add(covered)
        result.types.setdefault(kind, HitCount()).add(covered)
        result.typed.setdefault(kind, HitCount()).add(covered and all(types[at] == kind for at in places))
        whole = covered if whole is None else whole and covered
    if whole is not None:
        result.entities.add(whole)


def _count_strictly(example: TaggedExample, spans: Sequence[Span], strict: Strict) -> None:
    """A span stands for the words that it touches. One of a type that the set does not label is neither right nor wrong."""
    ends = list(itertools.accumulate(len(token) + 1 for token in example.tokens))
    gold = set(stretches(example.labels))
    touched = (
        (bisect_right(ends, span.begin), bisect_right(ends, span.end - 1) + 1, span.type)
        for span in spans
        if span.type not in example.unlabelled
    )
    found = {(begin, end, SAME.get(kind, kind)) for begin, end, kind in touched}
    strict.gold += len(gold)
    strict.found += len(found)
    strict.right += len(gold & found)


def _small(example: TaggedExample) -> set[int]:
    """The small words in or beside an entity."""
    inside = {at for at, label in enumerate(example.labels) if label not in (OUTSIDE, MIXED)}
    near = inside | {at + step for at in inside for step in (-1, 1)}
    return {at for at, token in enumerate(example.tokens) if at in near and token.lower() in _SMALL_WORDS}
