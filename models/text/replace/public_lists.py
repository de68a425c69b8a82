"""The public lists that ship with the project, by list and class ("given_names/f", "places", "dates/weekday").

A draw stays within its class, so the class is released exactly: the gender of a name, the form of a date. Sources and
licences are in NOTICE; `tools/build_lists.py` makes the files.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

LISTS = ("given_names", "surnames", "places", "organisations", "dates", "times")

Weights = dict[str, float]


@functools.lru_cache(maxsize=1)
def public_lists() -> dict[str, Weights]:
    """Key -> value -> weight. Beside the classes of a list, "places/words" holds its single words."""
    found: dict[str, Weights] = {}
    for name in LISTS:
        text = (
            resources.files("sottovoce.models.text.replace").joinpath(f"lists/{name}.tsv").read_text(encoding="utf-8")
        )
        for line in text.splitlines():
            value, weight, kind = line.split("\t")
            found.setdefault(f"{name}/{kind}" if kind else name, {})[value] = float(weight)
    found["given_names"] = found["given_names/f"] | found["given_names/m"]
    for name in ("places", "organisations"):
        found[f"{name}/words"] = words_of(found[name])
    return found


def words_of(weights: Mapping[str, float]) -> Weights:
    """The single words of the values: a word is as frequent as the values that hold it."""
    words: Weights = {}
    for value, weight in weights.items():
        for word in value.split():
            words[word] = words.get(word, 0.0) + weight
    return words


@functools.lru_cache(maxsize=1)
def class_of() -> dict[str, dict[str, str]]:
    """List -> value -> key of its class, for lists that have classes."""
    found: dict[str, dict[str, str]] = {}
    for key, weights in public_lists().items():
        name, slash, kind = key.partition("/")
        if slash and kind != "words":
            found.setdefault(name, {}).update(dict.fromkeys(weights, key))
    return found
