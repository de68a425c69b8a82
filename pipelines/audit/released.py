"""The released records of a sample of people, and whose they are: read by the operator, who has the index.

People are sampled, not records: what is to be linked must be there with all that belongs to it. Fewer strangers make an
attack easier, so that a sample flatters nobody. The index names people by keyed hashes, in whose order they are taken,
which is random to everybody else and the same each time.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.evaluation.audit.material import ReleasedText
from sottovoce.models.runs.committed_run import CommittedRun
from sottovoce.models.runs.places import INDEX
from sottovoce.pipelines.sanitize.run_folder import RunFolder

OWNER = ["speaker", "dialogue", "id", "place"]


@dataclass(frozen=True, repr=False)
class Sample:
    """`rows` by sink and id; `owners` by sink and id, one (person, dialogue) for each part of the record."""

    people: frozenset[str]
    rows: dict[str, dict[str, Mapping[str, Any]]]
    owners: dict[str, dict[str, list[tuple[str, str]]]]
    of_people: int

    def texts(self) -> list[ReleasedText]:
        """The released texts of all sinks, with whose each is."""
        return [
            ReleasedText(sink, text_of(row), *_whose(self.owners[sink][name]), whole_dialogue="turns" in row)
            for sink, rows in self.rows.items()
            for name, row in rows.items()
        ]


def _whose(parts: list[tuple[str, str]]) -> tuple[str, str]:
    """Of a dialogue, who says most of it."""
    return Counter(person for person, _ in parts).most_common(1)[0][0], parts[0][1]


def text_of(row: Mapping[str, Any]) -> str:
    """All words of a record, whatever the sink."""
    if "turns" in row:
        return " ".join(turn["text"] for turn in row["turns"])
    return str(row.get("text", ""))


def sample_of(folder: RunFolder, run: CommittedRun, records: int | None) -> Sample | None:
    """People until they have so many records together; all of them for None. None where the run keeps no index."""
    by_sink = _index(folder, run)
    if not by_sink:
        return None
    lines = pc.value_counts(pa.concat_tables(by_sink.values())["speaker"].combine_chunks()).to_pylist()
    counts = {line["values"]: line["counts"] for line in lines if line["values"]}
    people: set[str] = set()
    taken = 0
    for person in sorted(counts):
        if records is not None and people and taken + counts[person] > records:
            break
        people.add(person)
        taken += counts[person]
    owners = {sink: _owners(table, people) for sink, table in by_sink.items()}
    rows: dict[str, dict[str, Mapping[str, Any]]] = {
        sink: {row["id"]: row for row in _rows(run, sink) if row["id"] in owners[sink]} for sink in by_sink
    }
    return Sample(frozenset(people), rows, owners, len(counts))


def _index(folder: RunFolder, run: CommittedRun) -> dict[str, pa.Table]:
    """Whose each record is, by sink. All of them or none: what the index leaves out, no attack would look at."""
    tables = folder.tables()
    by_sink: dict[str, pa.Table] = {}
    for sink in (sink for sink in run.record["counts"]["rows"] if run.rows(sink)):
        own = [_read(folder, table) for table in tables if table["path"].startswith(f"{INDEX}/{sink}-part-")]
        if own:
            by_sink[sink] = pa.concat_tables(own)
    known = {sink: pc.count_distinct(table["id"]).as_py() for sink, table in by_sink.items()}
    if by_sink and known != {sink: run.rows(sink) for sink in run.record["counts"]["rows"] if run.rows(sink)}:
        raise RunError(f"{folder.name}: its index does not know whose each record is; put it back from a backup")
    return by_sink


def _read(folder: RunFolder, table: Mapping[str, Any]) -> pa.Table:
    place = folder.places.private(table["path"])
    with FileSystems.open(place, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        content = file.read()
    if hashlib.sha256(content).hexdigest() != table["sha256"]:
        raise RunError(f"{place} is not the file that the run wrote; put it back from a backup")
    return pq.read_table(pa.BufferReader(content), columns=OWNER)


def _rows(run: CommittedRun, sink: str) -> Iterator[Mapping[str, Any]]:
    """As committed: each shard is hashed as it is read, so that nothing else is attacked than what is trained on."""
    for path in run.paths_of(sink):
        parquet = pq.ParquetFile(pa.BufferReader(run.read(path)))
        for number in range(parquet.num_row_groups):
            yield from parquet.read_row_group(number, use_threads=False).to_pylist()


def _owners(table: pa.Table, people: set[str]) -> dict[str, list[tuple[str, str]]]:
    chosen = table.filter(pc.is_in(table["speaker"], value_set=pa.array(sorted(people), pa.string())))
    owners: dict[str, list[tuple[str, str]]] = {}
    for line in chosen.sort_by([("id", "ascending"), ("place", "ascending")]).to_pylist():
        owners.setdefault(line["id"], []).append((line["speaker"], line["dialogue"]))
    return owners
