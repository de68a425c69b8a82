"""What was measured of a run's mechanisms, beside what they claim: figures of the documentation, each with its interval, what
it was measured on and the command that prints it. They hold for these settings on that data, and for nothing else.

Recall of detectors comes with their own ledger entry (`measured`); the others stand in `measured.json`, one row a figure, and a
test holds each to the page that it names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

OF_DETECTORS = ("measured", "measured_in_other_languages")  # parameters of their ledger entries
FOUND = "share of the sensitive words that are found"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure of a mechanism: what it is about, the figure, on which data, and the command that prints it."""

    mechanism: str
    claim: str
    figure: str
    on: str
    source: str


def figures_of(ledger: Mapping[str, Any], settings: Mapping[str, Any]) -> list[Figure]:
    """`settings` is the resolved job: some figures hold for certain of its keys only (`slice.min_seconds`)."""
    return [figure for entry in ledger["mechanisms"] for figure in (*_recall(entry), *_others(entry, settings))]


def _recall(entry: Mapping[str, Any]) -> Iterator[Figure]:
    english, elsewhere = (entry["parameters"].get(name) or {} for name in OF_DETECTORS)
    for data, row in english.items():
        yield Figure(entry["mechanism"], FOUND, _share(row), f"{data}; {_over(row)}", row["command"])
    plain = {name: row for name, row in elsewhere.items() if " rare " not in name}
    if plain:  # one line for all of them: the ledger has each
        ranked = sorted(plain.values(), key=lambda row: row["recall"])
        worst, best = ranked[0], ranked[-1]
        on = f"other languages ({', '.join(sorted(name.split()[0] for name in plain))}), lowest and highest; {_over(worst)}"
        yield Figure(entry["mechanism"], FOUND, f"{_share(worst)}; {_share(best)}", on, worst["command"])


def _share(row: Mapping[str, Any]) -> str:
    low, high = row["interval"]
    return f"{row['recall']:.1%} ({low:.1%} to {high:.1%})"


def _over(row: Mapping[str, Any]) -> str:
    return f"{row['over_masking']:.1%} of the other words hit, too"


def rows() -> list[dict[str, Any]]:
    """`measured.json` as it is: a figure holds only where the settings are those of its `where`."""
    return json.loads(resources.files(__package__).joinpath("measured.json").read_text("utf-8"))


def _others(entry: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[Figure]:
    of_job = {
        f"{name}.{key}": value
        for name, own in settings.items()
        if isinstance(own, Mapping)
        for key, value in own.items()
    }
    known = of_job | dict(entry["parameters"])
    for row in rows():
        if row["mechanism"] == entry["mechanism"] and all(
            known.get(key) == value for key, value in row["where"].items()
        ):
            yield Figure(
                entry["mechanism"], row["claim"], row["figure"], row["on"], f"{row['command']} ({row['page']})"
            )
