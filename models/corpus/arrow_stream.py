"""Arrow stream files, as `datasets.Dataset.save_to_disk` writes them: their record batches by byte offset.

A local file is mapped, so that columns nobody looks at (embedded audio) are never read from disk.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any, BinaryIO

SUFFIX = ".arrow"


def as_source(stream: BinaryIO) -> Any:
    """A pyarrow file over `stream`."""
    import pyarrow as pa

    try:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError, AttributeError):  # not a local file, or an empty one
        return pa.PythonFile(stream, mode="r")
    return pa.BufferReader(pa.py_buffer(mapped))


def record_batches(source: Any) -> Iterator[tuple[int, int]]:
    """(byte offset, rows) of each record batch. Files with dictionaries are not supported: ArrowInvalid."""
    import pyarrow as pa

    source.seek(0)
    schema = pa.ipc.read_schema(source)
    while True:
        offset = source.tell()
        try:
            message = pa.ipc.read_message(source)
        except EOFError:
            return
        yield offset, _read(message, schema).num_rows


def read_record_batch(source: Any, offset: int) -> Any:
    """The batch at an offset that `record_batches` gave. ArrowInvalid where it is compressed."""
    import pyarrow as pa

    source.seek(0)
    schema = pa.ipc.read_schema(source)
    source.seek(offset)
    return _read(pa.ipc.read_message(source), schema)


def _read(message: Any, schema: Any) -> Any:
    import pyarrow as pa

    if _is_compressed(bytes(message.metadata)):
        raise pa.ArrowInvalid("a compressed record batch: it could hold any size")  # `datasets` writes none
    return pa.ipc.read_record_batch(message, schema)


def _is_compressed(message: bytes) -> bool:
    """Whether the record batch of a message names a compression: the fourth field of its table (Arrow's Message.fbs)."""

    def field(table: int, number: int) -> int:
        """Where a field of a flatbuffer's table stands; 0 where it is absent."""
        layout = table - int.from_bytes(message[table : table + 4], "little", signed=True)
        at = 4 + 2 * number
        if at >= int.from_bytes(message[layout : layout + 2], "little"):
            return 0
        offset = int.from_bytes(message[layout + at : layout + at + 2], "little")
        return table + offset if offset else 0

    def follow(at: int) -> int:
        return at + int.from_bytes(message[at : at + 4], "little")

    header = field(follow(0), 2)
    return bool(header) and bool(field(follow(header), 3))
