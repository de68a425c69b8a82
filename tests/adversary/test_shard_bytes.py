"""Attacker: looks at everything of a released shard but its rows: order, row groups, metadata, statistics, size, hash.

Whatever a file tells beyond its rows shows as a difference between it and the file that anybody would write of those
rows in the order of their ids. Sizes and hashes are functions of the bytes, so that they tell nothing more either.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened

from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.write import shards as write
from sottovoce.transforms.write.rows import schema_of

pytestmark = pytest.mark.slow
CORPUS = dialogues(40, language="en")
ROWS_PER_GROUP = 1024  # as the code says


def attack(released: Released) -> set[str]:
    """Shards that are not what their rows alone would give."""
    shards = released.run.glob("*/*.parquet")
    return {str(path.relative_to(released.run)) for path in shards if path.read_bytes() != written_anew(path)}


def written_anew(path: Path) -> bytes:
    rows = sorted(pq.read_table(path).to_pylist(), key=lambda row: row["id"])
    schema = schema_of(sink_class(path.parent.name).record_type)  # the code is public
    out = io.BytesIO()
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for begin in range(0, len(rows), ROWS_PER_GROUP):
            writer.write_table(pa.Table.from_pylist(rows[begin : begin + ROWS_PER_GROUP], schema=schema))
    return out.getvalue()


WRITE = write.write_parquet


def in_the_order_of_the_corpus(path, rows, schema, **how):
    return WRITE(path, sorted(rows, key=lambda row: row.source.line), schema, **how)


def with_their_places(path, rows, schema, **how):
    lines = json.dumps([row.source.line for row in rows])
    return WRITE(path, rows, schema.with_metadata({"lines": lines}), **how)


def in_groups_of_another_size(path, rows, schema, **how):
    with weakened(
        "groups of one size", {"sottovoce.transforms.write.shards:ROW_GROUP_ROWS": 1 + rows[0].source.line % 3}
    ):
        return WRITE(path, rows, schema, **how)


@pytest.mark.parametrize("careless", [in_the_order_of_the_corpus, with_their_places, in_groups_of_another_size])
def test_a_shard_that_tells_more_than_its_rows_is_noticed(careless, tmp_path):
    with weakened("files made of rows alone", {"sottovoce.transforms.write.shards:write_parquet": careless}):
        released = Operator(tmp_path).release(CORPUS)
    assert as_outsider(attack, released)


def test_our_shards_are_what_their_rows_alone_give(tmp_path):
    released = Operator(tmp_path).release(CORPUS)
    assert {path.parent.name for path in released.run.glob("*/*.parquet")} >= {"stt_lm", "slu", "dm"}
    assert not as_outsider(attack, released)


def test_names_of_files_tell_the_sinks_and_the_number_of_shards(tmp_path):
    released = Operator(tmp_path).release(CORPUS)
    shards = {f"{sink}/part-0000{number}-of-00002.parquet" for sink in ("stt_lm", "slu", "dm") for number in (0, 1)}
    others = {"_COMMITTED.json", "config.yaml", "ledger.json", "report.html", "README.md", "croissant.json"}
    assert {name.partition("/")[2] for name in released.files()} == shards | others
