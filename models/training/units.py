"""Whose each released row is, as a training may know it: a number for each person and nothing else.

Rows of a run are unlinked on purpose; the trusted side keeps, in private state, keyed hashes of whose they are. For a training
they become units: people who share a row (a dialogue of two) are one unit, because neither can be taken out alone. A record
whose corpus names no speaker counts by its dialogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import INDEX, RunPlaces

Units = Mapping[str, str]  # id of a row -> its unit


def join_people(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    """(row, person) pairs -> row: unit. A unit is named by its number in the order of rows: a hash would last longer."""
    first: dict[str, str] = {}  # of a row

    def root(person: str) -> str:
        while parent[person] != person:
            parent[person] = parent[parent[person]]
            person = parent[person]
        return person

    parent: dict[str, str] = {}
    for row, person in lines:
        parent.setdefault(person, person)
        other = first.setdefault(row, person)
        parent[root(person)] = root(other)
    numbers: dict[str, int] = {}
    return {row: str(numbers.setdefault(root(first[row]), len(numbers))) for row in sorted(first)}


def index_lines(table: object) -> list[tuple[str, str]]:
    """(id, speaker) of an index table (`transforms/write/index.py`)."""
    columns = table.select(["id", "speaker"]).to_pydict()  # type: ignore[attr-defined]
    return list(zip(columns["id"], columns["speaker"], strict=True))


def units_of_run(run: Path, sink: str) -> Units | None:
    """From the private state beside a run on this machine; None where there is none, as beside a copy."""
    import pyarrow.parquet as pq

    tables = sorted(Path(RunPlaces.of(str(run)).private(INDEX)).glob(f"{sink}-part-*.parquet"))
    if not tables:
        return None
    return join_people(line for path in tables for line in index_lines(pq.read_table(path)))


def read_units(path: str) -> Units:
    """As `start-training` hands them to its job."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        columns = pq.read_table(path, columns=["id", "unit"]).to_pydict()
    except (OSError, pa.ArrowInvalid, KeyError):
        raise RunError(f"--units {path}: not the table that start-training wrote") from None
    return dict(zip(columns["id"], columns["unit"], strict=True))
