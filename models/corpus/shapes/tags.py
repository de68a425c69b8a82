"""Words and their BIO tags, as lists: what `train` and `evaluate` read as well, and most taggers write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus.conll import slots_of
from sottovoce.models.corpus.reasons import TagsMalformed

_WORDS, _TAGS = ("tokens", "words"), ("tags", "ner_tags", "slot_tags", "bio_tags")


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """One record: words joined by blanks, tags made into slots. TagsMalformed unless there is one tag for each word."""
    if "text" in row and "slots" in row:
        yield row
        return
    words, tags = (next(row[key] for key in keys if key in row) for keys in (_WORDS, _TAGS))
    for items in (words, tags):
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise TagsMalformed
    if len(words) != len(tags) or not all(word.strip() for word in words):
        raise TagsMalformed
    rest = {key: value for key, value in row.items() if key not in (*_WORDS, *_TAGS, "slots")}
    yield rest | {"text": " ".join(words), "slots": slots_of(words, tags)}
