"""Laws of every sink in the table: it speaks for itself, and only safe types pass the wall."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from sottovoce.models.records import Safe, Source, Utterance
from sottovoce.models.settings import FAMILIES
from sottovoce.transforms.sinks import TABLE, sink_class
from sottovoce.transforms.sinks.sink import Sink
from sottovoce.transforms.write.rows import schema_of, to_row

# What the original said, and who: no safe type may carry it under these names.
NEVER = {"dialogue_id", "speaker_id", "gender", "source", "spans", "words"}


@pytest.fixture(params=TABLE)
def sink(request: pytest.FixtureRequest) -> type[Sink]:
    return sink_class(request.param)


def test_a_sink_has_words_for_the_report_the_ledger_and_the_plan(sink: type[Sink]) -> None:
    assert sink.holds and sink.released and all(sink.released) and sink.stages
    assert set(sink.mechanisms) <= set(FAMILIES) and sink.mechanisms
    assert sink.rows_per_shard >= 1


def test_the_record_of_a_sink_is_safe_and_has_columns(sink: type[Sink]) -> None:
    assert issubclass(sink.record_type, Safe)
    assert not NEVER & set(_fields(sink.record_type))
    assert schema_of(sink.record_type).names[0] == "id"


def test_what_is_not_safe_does_not_become_a_row() -> None:
    with pytest.raises(TypeError, match="not a safe record"):
        to_row("o", Source("f", 1), Utterance("u", "d", 0, "text", Source("f", 1)))  # type: ignore[arg-type]


def _fields(cls: type) -> set[str]:
    """Of the type and of whatever it holds."""
    found: set[str] = set()
    for field, hint in typing.get_type_hints(cls).items():
        found.add(field)
        for inner in typing.get_args(hint):
            found |= _fields(inner) if dataclasses.is_dataclass(inner) and isinstance(inner, type) else set()
    return found
