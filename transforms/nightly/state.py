"""What a run remembers for the runs after it: small Parquet tables of keyed hashes in its private folder, under `state/`.

They belong to the run, so they count when it is committed and go when it is replaced; the state of an output is the
union over its runs. Nothing in them can be read without the secret.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.forget.whose import dialogue_token, part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.runs.places import STATE, RunPlaces
from sottovoce.transforms.write.shards import note_shard, write_private_table

# A dialogue has a row for each speaker, so that one can be forgotten without the other.
DIALOGUES = pa.schema([("dialogue", pa.string()), ("speaker", pa.string()), ("turns", pa.int64())])
SPEAKERS = pa.schema([("speaker", pa.string()), ("epsilon", pa.float64()), ("units", pa.int64())])

DIALOGUES_PER_TABLE = 20_000  # a table is made in memory
Key = tuple[str, ...]  # the first columns of a row; the first one, a token, says in which table it is


def dialogue_key(secret: Secret, utterance: Utterance) -> str:
    """The keyed hash that later runs know the dialogue by, as long as they have the same secret."""
    return dialogue_token(secret, utterance.dialogue_id)


def speaker_key(secret: Secret, utterance: Utterance) -> str:
    """A record without a speaker is charged to its dialogue."""
    return part_of_utterance(secret, utterance).speaker


class WriteState(beam.PTransform):
    """(key, numbers) pairs in lists -> `state/<name>-*.parquet`, the numbers of one key added up."""

    def __init__(self, places: RunPlaces, name: str, schema: pa.Schema, shards: int, folder: str = STATE):
        super().__init__()
        self._shards = shards
        self._write = _WriteState(places, folder, name, schema)

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        """The paths of the tables; rows of one first column are all in the same one."""
        by_shard = pairs | "ByShard" >> beam.FlatMap(_by_shard, self._shards)
        return by_shard | "Shuffle" >> beam.GroupByKey() | "Write" >> beam.ParDo(self._write)


def _by_shard(pairs: Sequence[tuple[Key, tuple[Any, ...]]], shards: int) -> Iterator[tuple[int, bytes]]:
    """Packed: what the local runner groups it holds as objects, each pair of which would be five times its bytes."""
    parts: dict[int, list[Any]] = {}
    for key, numbers in pairs:
        parts.setdefault(int(key[0][:8], 16) % shards, []).append((key, numbers))
    for shard, own in parts.items():
        yield shard, pickle.dumps(own)


class _WriteState(beam.DoFn):
    def __init__(self, places: RunPlaces, folder: str, name: str, schema: pa.Schema):
        self._places, self._folder, self._name, self._schema = places, folder, name, schema

    def process(self, keyed: tuple[int, Iterable[bytes]]) -> Iterator[str]:
        shard, packed = keyed
        sums: dict[Key, list[float]] = {}
        for key, numbers in itertools.chain.from_iterable(map(pickle.loads, packed)):
            total = sums.setdefault(key, [0] * len(numbers))
            for place, number in enumerate(numbers):
                total[place] += number
        columns = list(zip(*((*key, *sums[key]) for key in sorted(sums)), strict=True))
        name = f"{self._name}-{shard:05d}.parquet"
        path = f"{self._places.folder_of(self._folder)}/{name}"
        described = write_private_table(
            path,
            pa.Table.from_arrays(
                [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)],
                schema=self._schema,
            ),
        )
        note_shard(self._places, self._folder, name, described)
        yield path


class ReadState(beam.PTransform):
    """(first column, the other columns) of the rows of earlier runs, from the URIs of their tables."""

    def __init__(self, uris: Sequence[str]):
        super().__init__()
        self._uris = list(uris)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """Tables are read on the workers, so that no state stands in the driver's memory."""
        return pipeline | beam.Create(self._uris) | beam.Reshuffle() | beam.FlatMap(_read_pairs)


def _read_pairs(uri: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        for batch in pq.ParquetFile(file).iter_batches():
            for row in batch.to_pylist():
                key, *numbers = row.values()
                yield key, tuple(numbers)


def count_dialogues(uris: Iterable[str]) -> int:
    """All rows of a dialogue are in one table, and a night takes no dialogue that an earlier run has taken."""
    return sum(_distinct(uri, "dialogue") for uri in uris)


def _distinct(uri: str, column: str) -> int:
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return pc.count_distinct(pq.read_table(file, columns=[column])[column]).as_py()
