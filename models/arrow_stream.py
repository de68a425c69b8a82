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
        yield offset, pa.ipc.read_record_batch(message, schema).num_rows


def read_record_batch(source: Any, offset: int) -> Any:
    import pyarrow as pa

    source.seek(0)
    schema = pa.ipc.read_schema(source)
    source.seek(offset)
    return pa.ipc.read_record_batch(pa.ipc.read_message(source), schema)
