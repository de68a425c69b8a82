"""What a run remembers for the nights after it: small Parquet tables of keyed hashes in its folder, under `_state/`.

They belong to the run, so they count when it is committed and go when it is replaced; the state of all nights is the
union over the runs. Nothing in them can be read without the secret.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.transforms.write import note_shard, write_table

FOLDER = "_state"
DIALOGUES = pa.schema([("dialogue", pa.string()), ("turns", pa.int64())])
SPEAKERS = pa.schema([("speaker", pa.string()), ("epsilon", pa.float64()), ("units", pa.int64())])


def dialogue_key(secret: Secret, utterance: Utterance) -> str:
    return secret.token("taken dialogue", utterance.dialogue_id)


def speaker_key(secret: Secret, utterance: Utterance) -> str:
    """A record without a speaker is charged to its dialogue."""
    if utterance.speaker_id is None:
        return secret.token("charged dialogue", utterance.dialogue_id)
    return secret.token("charged speaker", utterance.speaker_id)


class WriteState(beam.PTransform):
    """(key, numbers) pairs in lists -> `_state/<name>-*.parquet`, the numbers of one key added up."""

    def __init__(self, run_uri: str, name: str, schema: pa.Schema, shards: int):
        super().__init__()
        self._shards = shards
        self._write = _WriteState(run_uri, name, schema)

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        by_shard = pairs | "ByShard" >> beam.FlatMap(_by_shard, self._shards)
        return by_shard | "Shuffle" >> beam.GroupByKey() | "Write" >> beam.ParDo(self._write)


def _by_shard(pairs: Sequence[tuple[str, tuple[Any, ...]]], shards: int) -> Iterator[tuple[int, list[Any]]]:
    parts: dict[int, list[Any]] = {}
    for key, numbers in pairs:
        parts.setdefault(int(key[:8], 16) % shards, []).append((key, numbers))
    yield from parts.items()


class _WriteState(beam.DoFn):
    def __init__(self, run_uri: str, name: str, schema: pa.Schema):
        self._run_uri, self._name, self._schema = run_uri, name, schema

    def process(self, keyed: tuple[int, Iterable[list[Any]]]) -> Iterator[str]:
        shard, batches = keyed
        sums: dict[str, list[float]] = {}
        for key, numbers in itertools.chain.from_iterable(batches):
            total = sums.setdefault(key, [0] * len(numbers))
            for place, number in enumerate(numbers):
                total[place] += number
        rows = [dict(zip(self._schema.names, (key, *sums[key]), strict=True)) for key in sorted(sums)]
        name = f"{self._name}-{shard:05d}.parquet"
        path = FileSystems.join(self._run_uri, FOLDER, name)
        described = write_table(path, pa.Table.from_pylist(rows, schema=self._schema))
        note_shard(self._run_uri, FOLDER, name, described)
        yield path


class ReadState(beam.PTransform):
    """The pairs of earlier runs, from the URIs of their tables."""

    def __init__(self, uris: Sequence[str]):
        super().__init__()
        self._uris = list(uris)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        return pipeline | beam.Create(self._uris) | beam.Reshuffle() | beam.FlatMap(_read_pairs)


def _read_pairs(uri: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        for batch in pq.ParquetFile(file).iter_batches():
            for row in batch.to_pylist():
                key, *numbers = row.values()
                yield key, tuple(numbers)


def tables_of(run_uri: str, committed: Mapping[str, Any], name: str) -> list[str]:
    """URIs of one kind of state of a committed run."""
    return [
        FileSystems.join(run_uri, shard["path"])
        for shard in committed["shards"]
        if shard["sink"] == FOLDER and shard["path"].startswith(f"{FOLDER}/{name}-")
    ]
