"""Vary a training example without changing what its labels mean.

Values are swapped for values of public lists (so that the frame is learnt rather than the names), digits are said in
words, punctuation is dropped as a recogniser would; what a recogniser or a hasty writer does to words is in `noise.py`, and how
much of the case is left in `letter_case.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.models.text.detect.builder import letter_case, noise
from sottovoce.models.text.detect.builder.corpora import OUTSIDE, TaggedExample, stretches
from sottovoce.models.text.detect.builder.say_numbers import spoken
from sottovoce.models.text.detect.builder.values import LABELLED_AS, value
from sottovoce.models.text.languages import TABLE, language

_SWAPPED = ("PER", "LOC", "ORG")
_INFLECTING = ("lv", "pl")
_IN_FIGURES = {
    "TIME": ("{hour}", "{hour}:{minute:02d}", "{hour}.{minute:02d}", "{hour}h{minute:02d}", "{hour}h"),
    "DATE": (
        "{day}.",
        "{day}.{month}.",
        "{day}.{month}.{year}",
        "{day}/{month}",
        "{day}/{month}/{year}",
        "{day}-{month}-{year}",
    ),
}
_RESHAPED = ("CODE", "PHONE")
_CAPITALISED = ("title", "product", "car", "cuisine")
_SLOT = re.compile(r"\{(\w+)\}(\S*)")


@dataclass(frozen=True)
class Augmentation:
    """Shares of values, and of examples, that are varied. `figures`: of dates and times that are written in figures instead;
    `noise`: of examples with an error of dictation or of typing; `recase`: whether the case of letters is varied."""

    swap: float = 0.35
    say_digits: float = 0.25
    drop_punctuation: float = 0.5
    figures: float = 0.0
    noise: float = 0.0
    recase: bool = False

    def __call__(self, example: TaggedExample, draw: np.random.Generator) -> TaggedExample:
        tokens, labels = _swap(example, self, draw)
        tokens = [
            "http" if token.startswith("http") and len(token) > 8 else token for token in tokens
        ]  # dozens of pieces
        if draw.random() < self.say_digits:
            tokens, labels = _say_digits(tokens, labels)
        if draw.random() < self.drop_punctuation:
            tokens, labels = _drop_punctuation(tokens, labels)
        return self.roughened(replace(example, tokens=tuple(tokens), labels=tuple(labels)), (), draw)

    def roughened(self, example: TaggedExample, names: Sequence[int], draw: np.random.Generator) -> TaggedExample:
        """Errors and case; `names` are the words that are written with a capital though no label says so."""
        if self.recase:
            example = replace(example, tokens=letter_case.varied(example, names, draw))
        return noise.added(example, draw) if self.noise and draw.random() < self.noise else example


def fill(template: str, draw: np.random.Generator, augment: Augmentation | None = None) -> TaggedExample:
    """'call {PER} on {PHONE}' with made values. A {number} is an ordinary word, as is whatever is named in small letters."""
    tokens: list[str] = []
    labels: list[str] = []
    names: list[int] = []
    for part in template.split():
        slot = _SLOT.fullmatch(part)
        if slot is None:
            tokens.append(part)
            labels.append(OUTSIDE)
            continue
        kind, rest = slot.groups()
        words = value(kind, draw).split()
        words[-1] += rest
        if kind in _CAPITALISED:
            names += range(len(tokens), len(tokens) + len(words))
        tokens += words
        labels += [OUTSIDE] * len(words) if kind.islower() else _bio(LABELLED_AS.get(kind, kind), len(words))
    example = TaggedExample(tuple(tokens), tuple(labels), "templates")
    return example if augment is None else augment.roughened(example, names, draw)


def exchanged(example: TaggedExample, kinds: Sequence[str], draw: np.random.Generator) -> TaggedExample:
    """With a listed name that no tagger learnt in place of every value of these types: what is found of the unseen."""
    tokens: list[str] = []
    labels: list[str] = []
    at = 0
    for begin, end, kind in stretches(example.labels):
        own = list(example.tokens[begin:end])
        words = value(kind, draw, example.language, rare=True).split() if kind in kinds else own
        tokens += [*example.tokens[at:begin], *words]
        labels += [*example.labels[at:begin], *_bio(kind, len(words))]
        at = end
    return replace(example, tokens=(*tokens, *example.tokens[at:]), labels=(*labels, *example.labels[at:]))


def _bio(kind: str, length: int) -> list[str]:
    return [f"{'I' if at else 'B'}-{kind}" for at in range(length)]


def _swap(example: TaggedExample, shares: Augmentation, draw: np.random.Generator) -> tuple[list[str], list[str]]:
    tokens: list[str] = []
    labels: list[str] = []
    at = 0
    for begin, end, kind in stretches(example.labels):
        words = list(example.tokens[begin:end])
        if kind in _IN_FIGURES and shares.figures and draw.random() < shares.figures:
            words = _in_figures(words, example.language, kind, draw)
        elif draw.random() < shares.swap:
            if kind in _SWAPPED and words[0] != "@":
                new = _inflected(value(kind, draw, example.language), words[-1], example.language, draw).split()
                # Case is evidence: a new name has it where the old one had.
                words = [word.lower() for word in new] if shares.recase and "".join(words).islower() else new
            elif kind in _RESHAPED:
                words = [_same_shape(word, draw) for word in words]
        tokens += [*example.tokens[at:begin], *words]
        labels += [*example.labels[at:begin], *_bio(kind, len(words))]
        at = end
    return tokens + list(example.tokens[at:]), labels + list(example.labels[at:])


def _in_figures(words: Sequence[str], code: str, kind: str, draw: np.random.Generator) -> list[str]:
    """Its number words as figures where it has any ("17 uhr 30"), or another one in figures alone."""
    values = language(code).values if code in TABLE else {}
    if draw.random() < 0.6 and any(word in values for word in words):
        return [str(values.get(word, word)) for word in words]
    return [_written(_IN_FIGURES[kind], draw)]


def _written(forms: tuple[str, ...], draw: np.random.Generator) -> str:
    hour, minute, day, month, year = (
        int(draw.integers(*ends)) for ends in ((0, 24), (0, 60), (1, 32), (1, 13), (1950, 2030))
    )
    form = forms[int(draw.integers(len(forms)))]
    return form.format(hour=hour, minute=minute, day=day, month=month, year=year)


def _inflected(new: str, old: str, language: str, draw: np.random.Generator) -> str:
    """Where names have cases, a new one mostly takes the last letters of the old one: "ilmārs" for "jānim" is "ilmārim"."""
    if language not in _INFLECTING or len(new) < 5 or len(old) < 5 or draw.random() < 0.4:
        return new
    return new.rstrip("aeiouāēīūąęsš") + old[-2:].lstrip("bcdfghjklnprtvz")


def _same_shape(word: str, draw: np.random.Generator) -> str:
    """Other digits, and other letters where the word mixes both or is short; words such as 'double' stay."""
    mixed = any(c.isdigit() for c in word) or len(word) <= 3
    return "".join(_same_kind(c, draw) if c.isdigit() or mixed else c for c in word)


def _same_kind(character: str, draw: np.random.Generator) -> str:
    if character.isdigit():
        return str(draw.integers(10))
    return chr(97 + int(draw.integers(26))) if character.isascii() and character.isalpha() else character


def _say_digits(tokens: list[str], labels: list[str]) -> tuple[list[str], list[str]]:
    new_tokens: list[str] = []
    new_labels: list[str] = []
    for token, label in zip(tokens, labels, strict=True):
        words = spoken(token)
        inside = f"I-{label[2:]}" if label.startswith("B-") else label
        new_tokens += words
        new_labels += [label] + [inside] * (len(words) - 1)
    return new_tokens, new_labels


def _drop_punctuation(tokens: list[str], labels: list[str]) -> tuple[list[str], list[str]]:
    kept = [(t, label) for t, label in zip(tokens, labels, strict=True) if any(c.isalnum() for c in t)]
    return [t.rstrip(".,;:!?") or t for t, _ in kept], [label for _, label in kept]
