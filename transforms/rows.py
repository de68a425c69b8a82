"""What a sink hands to the writer: a safe record as columns, and enough to drop a second copy of the same utterance."""

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

from sottovoce.models.randomness import Secret
from sottovoce.models.records import SAFE_TYPES, Slot, Source, Utterance


@dataclass(frozen=True, slots=True)
class StagedBytes:
    """Audio of a slice, written aside by the speech branch: only this reference crosses the shuffle."""

    uri: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Row:
    """`origin` is a keyed hash of the utterance that the record was made of (its id, where it has but one record): rows with
    the same origin and different sources are copies."""

    origin: str
    source: Source
    columns: dict[str, Any]


def origin_of(secret: Secret, utterance: Utterance) -> str:
    return secret.token("origin", utterance.dialogue_id, utterance.id)


def to_row(origin: str, source: Source, record: Any, **instead: Any) -> Row:
    """The wall: only a safe type becomes a row. `instead` replaces a column's value by a reference to it."""
    if not isinstance(record, SAFE_TYPES):
        raise TypeError(f"{type(record).__name__} is not a safe record type")
    return Row(origin, source, _plain(record) | instead)


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
    return pickle.dumps([(row.origin, row.source.file, row.source.line, row.columns) for row in rows])


def unpack(packed: Iterable[bytes]) -> list[Row]:
    return [
        Row(origin, Source(file, line), columns)
        for rows in packed
        for origin, file, line, columns in pickle.loads(rows)
    ]


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
