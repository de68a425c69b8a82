"""The public lists that ship with the project, by list and class ("given_names/f", "places/city", "dates/weekday").

A draw stays within its class, so the class is released exactly: the gender of a name, whether a place is a city, the form of
a date. Sources and
licences are in NOTICE; `tools/build_lists.py` makes the files.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Mapping
from importlib import resources

LISTS = ("given_names", "surnames", "places", "organisations", "dates", "times")

Weights = dict[str, float]
_LINKING = frozenset(
    ("the", "a", "an", "and", "&", "of", "on", "in", "at", "by", "for", "to", "de", "la", "le", "el", "do")
)


@functools.lru_cache(maxsize=1)
def public_lists() -> dict[str, Weights]:
    """Key -> value -> weight. Beside a list, "places/city/words" holds the words of its values, and
    "places/city/one/words" the values of one word."""
    found: dict[str, Weights] = {}
    for name in LISTS:
        text = (
            resources.files("sottovoce.models.text.replace").joinpath(f"lists/{name}.tsv").read_text(encoding="utf-8")
        )
        for line in text.splitlines():
            value, weight, kind = line.split("\t")
            found.setdefault(f"{name}/{kind}" if kind else name, {})[value] = float(weight)
    found["given_names"] = found["given_names/f"] | found["given_names/m"]
    found["places"] = {name: weight for key in places() for name, weight in found[key].items()}
    for name in (*places(), "organisations"):
        found[f"{name}/words"] = words_of(found[name])
        found[f"{name}/one/words"] = {value: weight for value, weight in found[name].items() if " " not in value}
    return found


def places() -> tuple[str, ...]:
    """Names of the lists of places, one for each class."""
    return tuple(f"places/{kind}" for kind in ("city", "country", "state"))


@functools.lru_cache(maxsize=4096)
def guessed_gender(name: str) -> str:
    """Of a given name that the English list lacks: what it has in the list of another language, or as "jose" for "josé" and as
    "jean" for "jean-luc"; else the gender of most listed names that end alike, by their last three letters or fewer."""
    for form in (name, name.partition("-")[0]):
        known = _elsewhere().get(plain(form)) or class_of()["given_names"].get(plain(form))
        if known:
            return known
    for length in (3, 2, 1):
        women, men = _endings(length).get(name[-length:], (0.0, 0.0))
        if women + men:
            return "given_names/f" if women > men else "given_names/m"
    return "given_names"


def plain(name: str) -> str:
    """Without accents: "jose" for "josé"."""
    return "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))


@functools.cache
def _elsewhere() -> dict[str, str]:
    """Given names of the other languages, without accents, each with the key of its gender's list; those of both have none."""
    genders: dict[str, set[str]] = {}
    for folder in resources.files("sottovoce.models.text.replace").joinpath("lists").iterdir():
        if folder.is_dir():
            for line in folder.joinpath("given_names.tsv").read_text(encoding="utf-8").splitlines():
                name, _, gender = line.split("\t")
                genders.setdefault(plain(name), set()).add(gender)
    return {
        name: f"given_names/{next(iter(found))}"
        for name, found in genders.items()
        if len(found) == 1 and found <= {"f", "m"}
    }


@functools.cache
def _endings(length: int) -> dict[str, tuple[float, float]]:
    """Ending -> how many listed names of women and of men have it; names and not people are counted."""
    counted: dict[str, tuple[float, float]] = {}
    for key, at in (("given_names/f", 0), ("given_names/m", 1)):
        for name in public_lists()[key]:
            both = counted.get(name[-length:], (0.0, 0.0))
            counted[name[-length:]] = (both[0] + (at == 0), both[1] + (at == 1))
    return counted


def words_of(weights: Mapping[str, float]) -> Weights:
    """The single words of the values, but those that say nothing alone ("the"): a word is as frequent as what holds it."""
    words: Weights = {}
    for value, weight in weights.items():
        for word in value.split():
            if word not in _LINKING:
                words[word] = words.get(word, 0.0) + weight
    return words


@functools.lru_cache(maxsize=1)
def class_of() -> dict[str, dict[str, str]]:
    """List -> value -> key of its class, for lists that have classes."""
    found: dict[str, dict[str, str]] = {}
    for key, weights in public_lists().items():
        name, slash, kind = key.partition("/")
        if slash and not kind.endswith("words"):
            found.setdefault(name, {}).update(dict.fromkeys(weights, key))
    return found
