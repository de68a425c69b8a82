"""Attacker: supplies one file of the corpus (a partner, an upload) and later reads the release.

The offsets of a crafted Arrow file point past the texts, to what lies behind them in the memory of the worker. Here that
is a column of the file itself that is never read; on a worker it would be other people's records, or the secret.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from adversary import Operator, Released, as_outsider, weakened

pytestmark = pytest.mark.slow
BEHIND = "petronella quist lives in bay view"
WIDTH = 64  # buffers of an Arrow file are padded to this


def crafted(path: Path) -> Path:
    """Three texts; the first claims to go on for as long as what is stored behind the texts."""
    texts = ["turn it on".ljust(WIDTH // 2), None, "turn it off".ljust(WIDTH // 2)]
    behind = pa.array([BEHIND.ljust(WIDTH).encode()] * len(texts), pa.binary(WIDTH))
    table = pa.table({"text": texts, "note": behind})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content = bytearray(sink.getvalue().to_pybytes())
    half = WIDTH // 2
    at = content.index(struct.pack("<4i", 0, half, half, WIDTH))
    content[at + 4 : at + 8] = struct.pack("<i", 2 * WIDTH)
    path.write_bytes(content)
    return path


def attack(released: Released) -> list[str]:
    """What of the memory behind the texts was published."""
    return [row["text"] for row in released.rows("slu") if "petronella" in row["text"]]


def test_without_the_check_of_offsets_memory_is_published(tmp_path):
    operator = Operator(tmp_path)
    without = {"sottovoce.models.corpus.parquet:_values": lambda batch: batch.to_pylist()}
    with weakened("the check of offsets", without):
        released = operator.release(crafted(operator.home / "data.arrow"), "--set", "sinks={slu: 1}")
    assert as_outsider(attack, released)


def test_our_reader_refuses_the_row_and_keeps_the_others(tmp_path):
    operator = Operator(tmp_path)
    released = operator.release(crafted(operator.home / "data.arrow"), "--set", "sinks={slu: 1}")
    assert not as_outsider(attack, released)
    assert [row["text"].strip() for row in released.rows("slu")] == ["turn it off"]
    assert json.loads((released.run / "_COMMITTED.json").read_text())["counts"]["failed"] == 2
