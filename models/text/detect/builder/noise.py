"""What a recogniser and a hasty writer do to words: hesitations, homophones, names in two parts, letters that are lost or
swapped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sottovoce.models.text.detect.builder.corpora import OUTSIDE, TaggedExample
from sottovoce.models.text.detect.builder.lists import words
from sottovoce.models.text.detect.builder.values import pick

_ALIKE = (
    ("for", "four"), ("to", "two"), ("by", "buy"), ("their", "there"), ("hear", "here"), ("mail", "male"), ("week", "weak"),
    ("meet", "meat"), ("write", "right"), ("know", "no"), ("wait", "weight"), ("your", "you're"), ("would", "wood"),
)  # fmt: skip
HOMOPHONES = {one: other for pair in _ALIKE for one, other in (pair, pair[::-1])}


def added(example: TaggedExample, draw: np.random.Generator) -> TaggedExample:
    """One change to one word. What is inserted into a value belongs to nothing, and so does a homophone outside of one."""
    tokens, labels = list(example.tokens), list(example.labels)
    if not tokens:
        return example
    at = int(draw.integers(len(tokens)))
    token, label = tokens[at], labels[at]
    inside = f"I-{label[2:]}" if label[:2] == "B-" else label
    choice = draw.random()
    if choice < 0.35:
        said = pick(draw, words("hesitation")).split()
        tokens[at:at] = said
        labels[at:at] = [OUTSIDE] * len(said)
    elif choice < 0.5 and label == OUTSIDE and token.lower() in HOMOPHONES:
        tokens[at] = HOMOPHONES[token.lower()]
    elif choice < 0.65 and label != OUTSIDE and token.isalpha() and len(token) >= 6:
        cut = int(draw.integers(3, len(token) - 2))
        tokens[at : at + 1] = [token[:cut], token[cut:]]
        labels[at : at + 1] = [label, inside]
    elif token.isalpha() and len(token) >= 5:
        cut = int(draw.integers(1, len(token) - 2))
        tokens[at] = (
            token[:cut] + token[cut + 1] + token[cut] + token[cut + 2 :]
            if choice < 0.85
            else token[:cut] + token[cut + 1 :]
        )
    return replace(example, tokens=tuple(tokens), labels=tuple(labels))
