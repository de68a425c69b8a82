"""Records that are built differently from ours: a table of what known corpora look like, one file and one row for each.

A member is a module with `KEYS`, sets of keys of which one must be there for a row to be of this kind, and `rows(row, name)`,
which gives mappings under the keys of a manifest (docs/input.md). `name` is the row's own key where a document is a mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

TABLE = {
    "lhotse": "sottovoce.models.corpus.shapes.lhotse",
    "slurp": "sottovoce.models.corpus.shapes.slurp",
    "sgd": "sottovoce.models.corpus.shapes.sgd",
    "multiwoz": "sottovoce.models.corpus.shapes.multiwoz",
    "snips": "sottovoce.models.corpus.shapes.snips",
    "tags": "sottovoce.models.corpus.shapes.tags",
    "common_voice": "sottovoce.models.corpus.shapes.common_voice",
}

Rows = Callable[[Mapping[str, Any], str | None], Iterator[Mapping[str, Any]]]


@cache
def _shapes() -> tuple[tuple[tuple[frozenset[str], ...], Rows], ...]:
    modules = (import_module(path) for path in TABLE.values())
    return tuple((module.KEYS, module.rows) for module in modules)


def shape_of(keys: Iterable[str]) -> Rows | None:
    """How rows with these keys are read; None where they are records already."""
    return _shape_of(tuple(keys))


@lru_cache(maxsize=1024)
def _shape_of(keys: tuple[str, ...]) -> Rows | None:
    present = set(keys)
    return next((rows for wanted, rows in _shapes() if any(keys <= present for keys in wanted)), None)


def all_keys() -> frozenset[str]:
    """Every key by which a shape is known."""
    return frozenset().union(*(keys for wanted, _ in _shapes() for keys in wanted))
