"""Small dev sets that are written here (`dev_sets.txt`): rides, cinema, bookings, words as names, commands and more."""

from __future__ import annotations

import re
from dataclasses import replace

from sottovoce.models.text.detect.builder.corpora import OUTSIDE, TaggedExample
from sottovoce.models.text.detect.builder.lists import lines_of

_SLOT = re.compile(r"\[([A-Z]+):([^\]]+)\]")


def dev_sets() -> dict[str, list[TaggedExample]]:
    """Each text as it stands and, where it has capitals, in small letters."""
    sets: dict[str, list[TaggedExample]] = {}
    for line in lines_of("dev_sets.txt"):
        name, _, marked = line.partition("\t")
        example = _example(marked, name)
        sets.setdefault(name, []).append(example)
        if example.text != example.text.lower():
            sets[name].append(replace(example, tokens=tuple(token.lower() for token in example.tokens)))
    return sets


def _example(marked: str, corpus: str) -> TaggedExample:
    """A word takes the label of its slot with the punctuation that is glued to it, as in "[PER:dale]'s"."""
    tokens: list[str] = []
    labels: list[str] = []
    joined = _SLOT.sub(lambda slot: "\x01" + slot[1] + "\x02" + slot[2].replace(" ", "\x03") + "\x04", marked)
    for part in joined.split():
        before, opened, rest = part.partition("\x01")
        if not opened:
            tokens.append(part)
            labels.append(OUTSIDE)
            continue
        kind, _, value = rest.partition("\x02")
        value, _, after = value.partition("\x04")
        words = value.split("\x03")
        words[0], words[-1] = before + words[0], words[-1] + after
        tokens += words
        labels += [f"{'I' if at else 'B'}-{kind}" for at in range(len(words))]
    return TaggedExample(tuple(tokens), tuple(labels), corpus)
