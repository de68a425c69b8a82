"""What a sink hands to the writer: a safe record as columns, and enough to drop a second copy of the same utterance.

Rows of the same utterance have the same `origin`, so wherever they are grouped anyway a second copy shows by its source:
the first copy in the corpus stays and the others are refused.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sottovoce.models.errors import Refusal
from sottovoce.models.forget.whose import OwnedFailure, Part
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Safe, Slot, Source, Utterance
from sottovoce.transforms.engine.stage import make_failure


@dataclass(frozen=True, slots=True)
class StagedBytes:
    """Audio of a slice, written aside by the speech branch: only this reference crosses the shuffle."""

    uri: str
    offset: int
    length: int

    def __len__(self) -> int:
        return self.length


@dataclass(frozen=True, slots=True, repr=False)
class Row:
    """`origin` is a keyed hash of the utterance that the record was made of (its id, where it has but one record): rows with
    the same origin and different sources are copies. `parts` say whose it is, and are kept apart from it. Together these
    would undo the unlinking, so a row that is printed shows none of them."""

    origin: str
    source: Source
    columns: dict[str, Any]
    parts: tuple[Part, ...]

    def __repr__(self) -> str:
        return "<Row>"


def origin_of(secret: Secret, utterance: Utterance) -> str:
    """The keyed hash of an utterance: the same for its copies, and told to nobody who has not the secret."""
    return secret.token("origin", utterance.dialogue_id, utterance.id)


def to_row(origin: str, source: Source, record: Safe, *parts: Part, **instead: Any) -> Row:
    """The wall: only a safe type becomes a row. `instead` replaces a column's value by a reference to it."""
    if not isinstance(record, Safe):
        raise TypeError(f"{type(record).__name__} is not a safe record type")
    return Row(origin, source, _plain(record) | instead, parts)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    names = _field_names(type(value))  # type: ignore[arg-type]
    return value if names is None else {name: _plain(getattr(value, name)) for name in names}


@functools.cache
def _field_names(cls: type) -> tuple[str, ...] | None:
    """The fields of a dataclass; None for anything else."""
    return tuple(f.name for f in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else None


def pack(rows: Sequence[Row]) -> bytes:
    """Rows as one element of a shuffle: Beam would pickle each row by itself, which costs more than making it."""
    return pickle.dumps(
        [(row.origin, row.source.file, row.source.line, row.columns, *map(tuple, row.parts)) for row in rows]
    )


def unpack(packed: Iterable[bytes]) -> list[Row]:
    """The rows of all packs, in their order: the way back from `pack`."""
    return [
        Row(origin, Source(file, line), columns, tuple(Part(*part) for part in parts))
        for rows in packed
        for origin, file, line, columns, *parts in pickle.loads(rows)
    ]


class DuplicateId(Refusal):
    code = "duplicate_id"
    allowed = "each (dialogue_id, id) once; the first record of the corpus is kept"


def keep_first(rows: Iterable[Row], secret: Secret, stage: str) -> tuple[list[Row], list[OwnedFailure]]:
    """The rows of each origin's first source, and one failure for each further source of it."""
    rows = list(rows)
    first: dict[str, Source] = {}
    for row in rows:
        known = first.get(row.origin)
        if known is None or _order(row.source) < _order(known):
            first[row.origin] = row.source
    # Of the slices of a copy the first stands for it.
    later = {(row.origin, row.source): row for row in rows if row.source != first[row.origin] and row.parts[0].first}
    failures = [
        make_failure(secret, stage, f"{origin}\0{source.file}\0{source.line}", source, DuplicateId(), row.parts[0])
        for (origin, source), row in sorted(later.items(), key=lambda item: (_order(item[0][1]), item[0][0]))
    ]
    return [row for row in rows if row.source == first[row.origin]], failures


def _order(source: Source) -> tuple[str, int]:
    return source.file, source.line


SLOT = pa.struct([("begin", pa.int32()), ("end", pa.int32()), ("name", pa.string())])
AUDIO = pa.struct([("bytes", pa.binary()), ("path", pa.string())])  # what Hugging Face `datasets` reads as Audio


def schema_of(record_type: type) -> pa.Schema:
    """The Parquet schema of a safe type, from its annotations: a new sink needs no second list of columns."""
    hints = typing.get_type_hints(record_type)
    schema = pa.schema([(f.name, _arrow_type(f.name, hints[f.name])) for f in dataclasses.fields(record_type)])
    return schema.with_metadata(_as_features(schema)) if AUDIO in schema.types else schema


def _as_features(schema: pa.Schema) -> dict[str, str]:
    """Tells Hugging Face `datasets` that the struct is sound, so that it loads as an Audio column by itself."""
    features = {
        field.name: {"_type": "Audio"} if field.type == AUDIO else {"dtype": _dtype(field.type), "_type": "Value"}
        for field in schema
    }
    return {"huggingface": json.dumps({"info": {"features": features}})}


def _dtype(arrow_type: pa.DataType) -> str:
    return {"double": "float64"}.get(str(arrow_type), str(arrow_type))


def _arrow_type(name: str, hint: Any) -> pa.DataType:
    simple = {str: pa.string(), int: pa.int32(), float: pa.float64(), str | None: pa.string()}
    if hint in simple:
        return simple[hint]
    if hint is bytes:
        return AUDIO
    if typing.get_origin(hint) is tuple:
        item = typing.get_args(hint)[0]
        return pa.list_(SLOT if item is Slot else pa.struct(list(schema_of(item))))
    raise TypeError(f"column {name}: {hint} has no Parquet type")
